// Masks: what is ignored, what stays as it is, and what a changed one makes stale.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// The sphere of the rendered scene, which plays the moving object.
constexpr Vec3d kSphere{0.1, 0.8, 1.05};
constexpr double kRadius = 0.35;

/// Whether the view sees the sphere of radius `radius` at a position in its photo.
bool sees_sphere(const View& view, const Lens& lens, Vec2d pixel, double radius) {
  const std::optional<Vec3d> ray = lens.unproject(pixel);
  return ray && norm(cross(normalized(*ray), view.cam_from_world * kSphere)) < radius;
}

/// How many pixels of a map are known where the mask is 0, and where it is not.
struct Known {
  int ignored = 0, kept = 0;
};

Known count_known(const Image<float>& map, const Image<std::uint8_t>& mask) {
  EXPECT_EQ(map.width(), mask.width());
  EXPECT_EQ(map.height(), mask.height());
  Known known;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x)
      if (!std::isnan(map(x, y))) ++(mask(x, y) == 0 ? known.ignored : known.kept);
  return known;
}

int points_near_sphere(const fs::path& dense, double radius) {
  const PlyCloud cloud = read_ply(dense / "fused.ply");
  return static_cast<int>(std::count_if(cloud.positions.begin(), cloud.positions.end(),
                                        [&](Vec3d p) { return norm(p - kSphere) < radius; }));
}

class ReconstructMasks : public SceneTest {
 protected:
  /// Depth ranges and sources that do not depend on which sparse points count.
  std::vector<std::string> fixed_plan(const fs::path& scene,
                                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        scene.string(), "--depth-min", "1.5",  "--depth-max", "7", "--max-angle",
        "180",          "--combine",   "mean", "--sources",   "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  static fs::path mask_file(const fs::path& scene, const std::string& view) {
    return scene / "masks" / (view + ".png");
  }

  static Image<std::uint8_t> read_mask(const fs::path& file) {
    return decode_mask(content(file), file.string());
  }

  /// Writes masks that ignore the sphere, with a margin, in all views.
  static void mask_sphere(const fs::path& scene, double radius = 1.1 * kRadius) {
    const Scene model = read_colmap_model(scene / "sparse");
    for (const View& view : model.views) {
      const Camera& camera = model.cameras[static_cast<std::size_t>(view.camera)];
      const Lens lens(camera);
      Image<std::uint8_t> mask(camera.width, camera.height, 255);
      for (int y = 0; y < camera.height; ++y)
        for (int x = 0; x < camera.width; ++x)
          if (sees_sphere(view, lens, {x + 0.5, y + 0.5}, radius)) mask(x, y) = 0;
      write_image(mask_file(scene, view.name), mask.view());
    }
  }

  void mask_block(const std::string& view, int left, int right) const {
    Image<std::uint8_t> mask(96, 72, 255);
    for (int y = 20; y < 50; ++y)
      for (int x = left; x < right; ++x) mask(x, y) = 0;
    write_image(mask_file(scene(), view), mask.view());
  }

  /// Leaves a model without sparse points, whose sources corners choose: masks of few pixels leave most.
  void drop_points() const {
    Scene scene_model = model();
    scene_model.points.clear();
    for (View& view : scene_model.views) view.observations.clear();
    set_model(scene_model);
  }

  /// Runs the fixed plan with the masks and without, to folder()/"with" and folder()/"without".
  void run_with_and_without(const std::vector<std::string>& more) const {
    const auto run = [&](const char* output) {
      std::vector<std::string> arguments = fixed_plan(scene(), more);
      arguments.insert(arguments.end(), {"-o", (folder() / output).string()});
      const Outcome outcome = reconstruct(arguments);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    };
    run("with");
    fs::rename(scene() / "masks", scene() / "no-masks");
    run("without");
    fs::rename(scene() / "no-masks", scene() / "masks");
  }
};

// Such narrow areas would be holes in the surface behind them. The method keeps patches, which fill holes.
TEST_F(ReconstructMasks, OfThinObjectsAreNotFilled) {
  const fs::path demo = folder() / "demo";
  fs::create_directories(demo);
  for (const char* part : {"images", "sparse"})
    fs::copy(fs::path(RECON_SOURCE_DIR) / "scenes/demo" / part, demo / part, fs::copy_options::recursive);
  const std::vector<View> views = read_colmap_model(demo / "sparse").views;
  Image<std::uint8_t> mask(400, 300, std::uint8_t{255});
  for (int y = 0; y < 300; ++y)
    for (int x = 100; x < 104; ++x) mask(x, y) = mask(x + 100, y) = 0;
  for (const View& view : views) write_image(mask_file(demo, view.name), mask.view());
  const Outcome outcome = reconstruct({demo.string(), "--method", "planesweep", "--max-image-size", "200"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const View& view : views) {
    const Known depths =
        count_known(read_depth_map(demo / "dense/stereo/depth_maps" / (view.name + ".geometric.bin")),
                    read_mask(mask_file(demo / "dense", view.name)));
    EXPECT_EQ(depths.ignored, 0) << view.name;
    EXPECT_GT(depths.kept, 10000) << view.name;
  }
}

TEST_F(ReconstructMasks, TakeAMovingObjectOutOfMapsAndCloud) {
  mask_sphere(scene());
  for (const std::vector<std::string>& method :
       std::vector<std::vector<std::string>>{{}, {"--method", "sgm"}}) {
    std::vector<std::string> arguments = fixed_plan(scene(), {"--overwrite"});
    if (!method.empty()) arguments = {scene().string(), "--method", "sgm", "--overwrite"};
    const Outcome outcome = reconstruct(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("masks: 5 of 5 views have one"));
    for (const View& view : model().views) {
      const Image<std::uint8_t> mask = read_mask(mask_file(scene(), view.name));
      for (const std::string kind : {".photometric", ".geometric"}) {
        const Known depths =
            count_known(read_depth_map(dense() / "stereo/depth_maps" / (view.name + kind + ".bin")), mask);
        EXPECT_EQ(depths.ignored, 0) << view.name << kind;
        EXPECT_GT(depths.kept, 1000) << view.name << kind;
        const Image<float> confidence =
            read_confidence_map(dense() / "stereo/confidence_maps" / (view.name + kind + ".png"));
        for (int y = 0; y < mask.height(); ++y)
          for (int x = 0; x < mask.width(); ++x)
            EXPECT_TRUE(mask(x, y) != 0 || confidence(x, y) == 0) << x << ' ' << y;
      }
      const Image<Vec3f> normals =
          read_normal_map(dense() / "stereo/normal_maps" / (view.name + ".geometric.bin"));
      for (int y = 0; y < mask.height(); ++y)
        for (int x = 0; x < mask.width(); ++x)
          EXPECT_TRUE(mask(x, y) != 0 || std::isnan(normals(x, y).x)) << x << ' ' << y;
    }
    EXPECT_EQ(points_near_sphere(dense(), 1.05 * kRadius), 0);
    const auto report = nlohmann::json::parse(content(dense() / "report.json"));
    EXPECT_EQ(report.at("masked_views"), 5);
    EXPECT_EQ(report.at("views").at(0).at("masked"), true);
    EXPECT_FALSE(report.contains("roi"));
  }
  fs::remove_all(scene() / "masks");
  ASSERT_EQ(reconstruct(fixed_plan(scene(), {"--overwrite"})).exit_code, 0);
  EXPECT_GT(points_near_sphere(dense(), 1.05 * kRadius), 100);
  EXPECT_THAT(content(dense() / "report.json"), Not(HasSubstr("masked")));
}

TEST_F(ReconstructMasks, LeaveOtherPixelsAndViewsAsTheyAre) {
  mask_block("view02.png", 30, 60);
  run_with_and_without({"--speckle", "0"});
  const Image<std::uint8_t> mask = read_mask(mask_file(scene(), "view02.png"));
  const auto map = [&](const char* run, const std::string& view) {
    return read_depth_map(folder() / run / "stereo/depth_maps" / (view + ".photometric.bin"));
  };
  const Image<float> with = map("with", "view02.png"), without = map("without", "view02.png");
  EXPECT_EQ(count_known(with, mask).ignored, 0);
  EXPECT_GT(count_known(without, mask).ignored, 500);
  int compared = 0, beside = 0;
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) {
      if (mask(x, y) == 0) continue;
      EXPECT_EQ(std::isnan(with(x, y)), std::isnan(without(x, y))) << x << ' ' << y;
      // The median of a pixel beside the mask has fewer depths.
      const bool is_beside = x >= 29 && x <= 60 && y >= 19 && y <= 50;
      if (!is_beside && !std::isnan(with(x, y))) {
        EXPECT_EQ(with(x, y), without(x, y)) << x << ' ' << y;
      }
      ++(is_beside ? beside : compared);
    }
  EXPECT_EQ(beside, 2 * (30 + 30) + 4);
  EXPECT_GT(compared, 5000);
  for (const char* view : {"view00.png", "view01.png", "view03.png", "view04.png"}) {
    const std::string file = std::string("stereo/depth_maps/") + view + ".photometric.bin";
    EXPECT_EQ(content(folder() / "with" / file), content(folder() / "without" / file)) << view;
  }
}

TEST_F(ReconstructMasks, GiveNoPointsOfTheMaskedView) {
  mask_block("view02.png", 30, 60);
  run_with_and_without({});
  const auto points_of_block = [&](const char* run) {
    const fs::path dense = folder() / run;
    const Scene model = read_colmap_model(dense / "sparse");
    const PlyCloud cloud = read_ply(dense / "fused.ply");
    const std::string bytes = content(dense / "fused.ply.vis");
    int inside = 0;
    std::size_t at = sizeof(std::uint64_t);
    for (const Vec3d p : cloud.positions) {
      std::uint32_t count = 0;
      std::memcpy(&count, bytes.data() + at, sizeof count);
      std::vector<std::uint32_t> views(count);
      std::memcpy(views.data(), bytes.data() + at + sizeof count, count * sizeof count);
      at += (count + 1) * sizeof count;
      if (std::find(views.begin(), views.end(), 2u) == views.end()) continue;
      const Vec2d pixel = as_pinhole(model.cameras.front())->project(model.views[2].cam_from_world * p);
      // Points that are means of several views may lie a pixel off.
      inside += pixel.x > 31 && pixel.x < 59 && pixel.y > 21 && pixel.y < 49;
    }
    EXPECT_EQ(at, bytes.size());
    return inside;
  };
  EXPECT_EQ(points_of_block("with"), 0);
  EXPECT_GT(points_of_block("without"), 100);
}

TEST_F(ReconstructMasks, AreUndistortedAndScaledDownWithThePhotos) {
  const fs::path distorted = folder() / "distorted", dense = distorted / "dense";
  render(distorted, {"--camera-model", "OPENCV", "--width", "192", "--height", "144"});
  mask_sphere(distorted);
  const Outcome outcome = reconstruct(fixed_plan(distorted, {"--max-image-size", "120"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Scene model = read_colmap_model(dense / "sparse");
  const Lens lens(model.cameras.front());
  for (const View& view : model.views) {
    const Image<std::uint8_t> mask = read_mask(dense / "masks" / (view.name + ".png"));
    ASSERT_EQ(mask.width(), model.cameras.front().width);
    ASSERT_LE(mask.width(), 120);
    const double pixel = norm(view.cam_from_world * kSphere) / lens.focal().x;  // at the sphere
    int ignored = 0;
    for (int y = 0; y < mask.height(); ++y)
      for (int x = 0; x < mask.width(); ++x) {
        const Vec2d centre{x + 0.5, y + 0.5};
        // Half a pixel of the photo and one of the undistorted image around the edge of the mask.
        const bool inside = sees_sphere(view, lens, centre, 1.1 * kRadius - pixel);
        const bool outside = !sees_sphere(view, lens, centre, 1.1 * kRadius + 2 * pixel);
        EXPECT_FALSE(inside && mask(x, y) != 0) << x << ' ' << y;
        EXPECT_FALSE(outside && mask(x, y) != 255) << x << ' ' << y;
        ignored += mask(x, y) == 0;
      }
    EXPECT_GT(ignored, 300);
    const Image<float> depth = read_depth_map(dense / "stereo/depth_maps" / (view.name + ".photometric.bin"));
    EXPECT_EQ(count_known(depth, mask).ignored, 0);
    EXPECT_GT(count_known(depth, mask).kept, 1000);
  }
  EXPECT_EQ(points_near_sphere(dense, kRadius), 0);
}

TEST_F(ReconstructMasks, MakeTheWorkspaceASceneWithMasks) {
  const fs::path distorted = folder() / "distorted";
  render(distorted, {"--camera-model", "OPENCV"});
  mask_sphere(distorted);
  ASSERT_EQ(reconstruct(fixed_plan(distorted)).exit_code, 0);
  const Outcome again = reconstruct(fixed_plan(distorted / "dense", {"-o", (folder() / "again").string()}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("masks: 5 of 5 views have one"));
  for (const char* file : {"stereo/depth_maps/view03.png.photometric.bin", "masks/view01.png.png"})
    EXPECT_EQ(content(folder() / "again" / file), content(distorted / "dense" / file)) << file;
}

TEST_F(ReconstructMasks, OfSubFoldersHaveTheNamesOfTheirPhotos) {
  Scene changed = model();
  fs::create_directories(scene() / "images/left/day 1");
  for (View& view : changed.views) {
    const std::string name = "left/day 1/" + view.name;
    fs::rename(scene() / "images" / view.name, scene() / "images" / name);
    view.name = name;
  }
  set_model(changed);
  mask_block("left/day 1/view01.png", 30, 60);
  const Outcome outcome = reconstruct(fixed_plan(scene()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("masks: 1 of 5 views have one"));
  const Image<std::uint8_t> mask = read_mask(dense() / "masks/left/day 1/view01.png.png");
  const auto known = [&](const std::string& view) {
    return count_known(read_depth_map(dense() / "stereo/depth_maps/left/day 1" / (view + ".photometric.bin")),
                       mask);
  };
  EXPECT_EQ(known("view01.png").ignored, 0);
  EXPECT_GT(known("view02.png").ignored, 500) << "a photo without a mask is used whole";
}

TEST_F(ReconstructMasks, ThatCannotBeUsedLeaveTheirViewsOut) {
  write_image(mask_file(scene(), "view01.png"), Image<std::uint8_t>(95, 72, 255).view());
  mask_block("view03.png", 30, 60);
  const fs::path truncated = mask_file(scene(), "view03.png");
  fs::resize_file(truncated, fs::file_size(truncated) - 30);
  const Outcome plan = reconstruct({scene().string(), "--dry-run"});
  EXPECT_EQ(plan.exit_code, 7);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("view01.png is left out: " + mask_file(scene(), "view01.png").string() +
                              ": the mask has 95x72 pixels, its photo 96x72; make a mask"),
                    HasSubstr("view03.png is left out: " + truncated.string() + ": ")));
  EXPECT_TRUE(fs::exists(dense() / "fused.ply"));
  EXPECT_FALSE(fs::exists(dense() / "stereo/depth_maps/view03.png.photometric.bin"));
}

TEST_F(ReconstructMasks, ThatIgnoreNothingChangeNothing) {
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "without").string()}).exit_code, 0);
  fs::create_directories(scene() / "masks");
  const Outcome none = reconstruct({scene().string(), "-o", (folder() / "none").string()});
  EXPECT_THAT(none.err, HasSubstr("that of view00.png would be view00.png.png"));
  EXPECT_TRUE(same_results(results(folder() / "without"), results(folder() / "none")));
  for (const View& view : model().views)
    write_image(mask_file(scene(), view.name), Image<std::uint8_t>(96, 72, 1).view());
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "all").string()}).exit_code, 0);
  auto all = results(folder() / "all");
  EXPECT_EQ(std::erase_if(all, [](const auto& file) { return file.first.starts_with("masks/"); }), 5u);
  EXPECT_TRUE(same_results(results(folder() / "without"), all));
}

TEST_F(ReconstructMasks, ThatChangeMakeTheirViewsStale) {
  drop_points();
  mask_block("view02.png", 30, 60);
  ASSERT_EQ(reconstruct(fixed_plan(scene())).exit_code, 0);
  const auto expect_fresh = [&] {
    const fs::path fresh = folder() / "fresh";
    fs::remove_all(fresh);
    ASSERT_EQ(reconstruct(fixed_plan(scene(), {"-o", fresh.string()})).exit_code, 0);
    EXPECT_TRUE(same_results(results(fresh), results(dense())));
  };
  const Outcome kept = reconstruct(fixed_plan(scene()));
  EXPECT_THAT(kept.err, AllOf(HasSubstr("depth maps: 5 of 5 views are finished and kept"),
                              HasSubstr("the cloud is finished and kept")));
  mask_block("view02.png", 30, 50);
  const Outcome changed = reconstruct(fixed_plan(scene()));
  EXPECT_THAT(changed.err, HasSubstr("depth maps: 4 of 5 views are finished and kept"));
  const std::pair<std::string, std::string> said[] = {
      {"undistorting", ": stale views are done again, such as view02.png: another mask\n"},
      {"depth maps", ": the stale view view02.png is done again: another mask\n"},
      {"check across views", ": stale views are done again, such as view0"},
      {"fusion", ": the stale cloud is made again"}};
  for (const auto& [step, text] : said) {
    const std::size_t begin = changed.err.find(step + text);
    std::smatch end;
    ASSERT_TRUE(std::regex_search(changed.err, end, std::regex(step + ": [0-9]+ of [0-9]+ .100 %")));
    EXPECT_LT(begin, static_cast<std::size_t>(end.position())) << step << "\n" << changed.err;
    EXPECT_EQ(changed.err.find(step + text, begin + 1), std::string::npos) << "it is said once: " << step;
  }
  expect_fresh();
  // A view that has none any more, in a folder that a user put a file into.
  set_content(dense() / "masks/mine.png", "of the user");
  fs::remove(mask_file(scene(), "view02.png"));
  mask_block("view01.png", 30, 50);
  // The order of the sources of others may change, which corners outside the masks choose.
  EXPECT_THAT(reconstruct(fixed_plan(scene())).err,
              ContainsRegex("depth maps: [1-3] of 5 views are finished and kept"));
  EXPECT_FALSE(fs::exists(dense() / "masks/view02.png.png"));
  EXPECT_EQ(content(dense() / "masks/mine.png"), "of the user");
  fs::remove(dense() / "masks/mine.png");
  expect_fresh();
}

TEST_F(ReconstructMasks, OfOtherPixelsAreRefusedByFusionAlone) {
  mask_block("view02.png", 30, 60);
  ASSERT_EQ(reconstruct(fixed_plan(scene(), {"--stage", "estimate"})).exit_code, 0);
  mask_block("view02.png", 30, 50);
  const Outcome outcome = reconstruct(fixed_plan(scene(), {"--stage", "fuse"}));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("view02.png (another mask)"));
}

TEST_F(ReconstructMasks, LeaveNoCornersToChooseSourcesBy) {
  drop_points();
  for (const View& view : model().views)
    write_image(mask_file(scene(), view.name), Image<std::uint8_t>(96, 72, 0).view());
  const auto sources = [&] { return reconstruct({scene().string(), "--dry-run"}).err; };
  EXPECT_THAT(sources(), HasSubstr("sources are chosen by the geometry of the cameras"));
  fs::remove_all(scene() / "masks");
  EXPECT_THAT(sources(), HasSubstr("corners that photos share"));
}

TEST_F(ReconstructMasks, TakePointsTheyIgnoreOutOfTheDepthRange) {
  // The floor before the objects, in the lower part of the photos, is what is nearest.
  for (const View& view : model().views) {
    Image<std::uint8_t> mask(96, 72, 255);
    for (int y = 40; y < 72; ++y)
      for (int x = 0; x < 96; ++x) mask(x, y) = 0;
    write_image(mask_file(scene(), view.name), mask.view());
  }
  const auto range = [&] {
    const auto view = reconstruct({scene().string(), "--dry-run", "--json"}).json().at("scenes").at(0);
    EXPECT_EQ(view.value("masked_views", 0), fs::exists(scene() / "masks") ? 5 : 0);
    return view.at("views").at(2).at("depth_min").get<double>();
  };
  EXPECT_THAT(reconstruct({scene().string(), "--dry-run"}).out, HasSubstr("masks: 5 of 5 views"));
  const double with = range();
  fs::remove_all(scene() / "masks");
  EXPECT_GT(with, 1.1 * range());
}

}  // namespace
}  // namespace recon
