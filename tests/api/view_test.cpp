// The public calls for posed views: maps and points are those of the program, bit for bit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include "api/view_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "scene/camera.hpp"
#include "scene/sparse_index.hpp"

namespace recon {
namespace {

using reconstruct::Device;
using reconstruct::Options;
using reconstruct::PixelType;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ViewTest, SweepAndFusionEqualTheProgram) {
  run_program_on_scene({"--scene-planes", "0"});  // which `fuse` does not search
  const auto chosen = sources();
  std::vector<reconstruct::DepthMaps> maps;
  std::vector<reconstruct::FusionView> views;
  for (int i = 0; i < std::ssize(photos_); ++i) {
    std::vector<reconstruct::View> others;
    ASSERT_FALSE(chosen[i].empty());
    for (const int source : chosen[i]) others.push_back(view(source));
    maps.push_back(sweep(device_, view(i), others));
    EXPECT_TRUE(same_values(maps[i].depth, depth_of_program(i, "photometric"))) << i;
    views.push_back({maps[i].depth,
                     camera_of(scene_, i),
                     pose_of(scene_, i),
                     maps[i].confidence,
                     view(i).image,
                     {},
                     chosen[i]});
  }
  const reconstruct::Fusion fusion = fuse(device_, views);
  for (int i = 0; i < std::ssize(photos_); ++i)
    EXPECT_TRUE(same_values(fusion.checked[i].depth, depth_of_program(i, "geometric"))) << i;
  const PlyCloud cloud = read_ply(dense() / "fused.ply");
  const std::vector<Vec3d>& points = cloud.positions;
  ASSERT_EQ(fusion.cloud.points.size(), points.size());
  ASSERT_GT(points.size(), 1000u);
  std::size_t views_in_all = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const reconstruct::CloudPoint& point = fusion.cloud.points[i];
    views_in_all += point.view_count;
    EXPECT_EQ(static_cast<float>(point.position[0]), static_cast<float>(points[i].x));
    EXPECT_EQ(static_cast<float>(point.position[2]), static_cast<float>(points[i].z));
    EXPECT_EQ(point.normal[1], cloud.normals[i].y);
    EXPECT_EQ(point.colour[1], cloud.colours[i].g);
    if (HasFailure()) break;
  }
  EXPECT_EQ(fusion.cloud.views.size(), views_in_all);
}

TEST_F(ViewTest, SweepTakesTheOptionsOfTheProgram) {
  run_program_on_scene(
      {"--stage", "estimate", "--planes", "24", "--window", "7", "--depth-min", "1.5", "--depth-max", "6"});
  const auto chosen = sources();
  std::vector<reconstruct::View> others;
  for (const int source : chosen[2]) others.push_back(view(source));
  const auto maps = sweep(device_, view(2), others,
                          {{"planes", "24"}, {"window", "7"}, {"depth-min", "1.5"}, {"depth-max", "6"}});
  EXPECT_TRUE(same_values(maps.depth, depth_of_program(2, "photometric")));
  Image<std::uint8_t> mask(photos_[2].width(), photos_[2].height(), 255);
  for (int y = 0; y < mask.height(); ++y) mask(7, y) = 0;
  reconstruct::View masked = view(2);
  masked.mask = {mask.row(0), mask.width(), mask.height(), mask.pitch(), PixelType::kGrey8};
  const auto masked_maps = sweep(device_, masked, others, {{"planes", "24"}});
  for (int y = 0; y < mask.height(); ++y) EXPECT_TRUE(std::isnan(masked_maps.depth(7, y)));
}

TEST_F(ViewTest, SweepSaysWhatIsWrong) {
  const reconstruct::View reference = view(0), source = view(1);
  const auto fault = [&](const reconstruct::View& a, const std::vector<reconstruct::View>& others,
                         const Options& options = {}) {
    return fault_of([&] { sweep(device_, a, others, options); });
  };
  reconstruct::View flat = reference, mirrored = source, masked = reference;
  flat.camera.fx = 0;
  mirrored.cam_from_world.rotation[0][0] *= -1;
  masked.mask = source.image;
  EXPECT_THAT(fault(reference, {}), HasSubstr("there are 0 sources"));
  EXPECT_THAT(fault(flat, {source}), HasSubstr("the reference has the focal lengths 0"));
  EXPECT_THAT(fault(reference, {source, mirrored}), HasSubstr("source 1 has a pose"));
  EXPECT_THAT(fault(masked, {source}), HasSubstr("the mask of the reference"));
  EXPECT_THAT(fault(reference, {source}, {{"min-views", "2"}}), HasSubstr("--min-views has no effect"));
  EXPECT_THAT(fault(reference, {source}, {{"method", "sgm"}}), HasSubstr("sweep takes planesweep"));
  EXPECT_THAT(fault(reference, {source}, {{"max-image-size", "50"}}), HasSubstr("no meaning for sweep"));
  EXPECT_THAT(fault(reference, {source}, {{"depth-min", "3"}, {"depth-max", "2"}}),
              HasSubstr("--depth-min is 3"));
  EXPECT_THROW(sweep(device_, reference, {reference}), reconstruct::InputError) << "there is no baseline";
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_THROW(sweep(device_, reference, {source}, {}, stopped.get_token()), reconstruct::Interrupted);
}

TEST_F(ViewTest, FusionTakesMapsOfOthers) {
  // Two views of the plane z = 4, without confidences, colours and sources.
  constexpr int kWidth = 64, kHeight = 48;
  Image<float> depth(kWidth, kHeight, 4.0f), other(kWidth, kHeight, 4.0f);
  for (int x = 0; x < kWidth; ++x) depth(x, 0) = 0, other(x, 1) = std::numeric_limits<float>::infinity();
  for (int y = 20; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) other(x, y) = 5.0f;  // they do not agree
  const reconstruct::Camera camera = {60, 60, 32, 24};
  reconstruct::Pose right;
  right.translation[0] = -0.5;
  const auto map = [](const Image<float>& image) {
    return reconstruct::MapView<float>{image.row(0), image.width(), image.height(),
                                       image.pitch() * static_cast<std::ptrdiff_t>(sizeof(float))};
  };
  std::vector<reconstruct::FusionView> views = {{map(depth), camera, {}, {}, {}, {}, {}},
                                                {map(other), camera, right, {}, {}, {}, {}}};
  const reconstruct::Fusion fusion =
      fuse(device_, views, {{"min-confidence", "0"}, {"min-lone-confidence", "1"}});
  ASSERT_GT(fusion.cloud.points.size(), 500u);
  for (const auto& point : fusion.cloud.points) {
    EXPECT_NEAR(point.position[2], 4.0, 1e-5);
    EXPECT_EQ(point.view_count, 2u);
    EXPECT_EQ(point.colour[0], 0);
    EXPECT_NEAR(point.normal[2], -1.0f, 1e-3f);
  }
  EXPECT_TRUE(std::isnan(fusion.checked[0].depth(30, 40)));
  EXPECT_EQ(fuse(device_, views, {{"roi", "0,0,5,1,1,6"}}).cloud.points.size(), 0u);

  const auto fault = [&](const Options& options) { return fault_of([&] { fuse(device_, views, options); }); };
  EXPECT_THAT(fault({{"planes", "9"}}), HasSubstr("--planes has no effect on the results of fuse"));
  views[0].sources = {2};
  EXPECT_THAT(fault({}), HasSubstr("view 0 has the source 2"));
  views[0].sources = {};
  views[1].confidence = map(depth);
  views[1].confidence.width = 63;
  EXPECT_THAT(fault({}), HasSubstr("the confidence of view 1 has 63x48 pixels and the depth map 64x48"));
  views.resize(1);
  EXPECT_THAT(fault({}), HasSubstr("there is 1 view"));
}

/// Two views of the plane z = 4, and their colours of 16 bits.
struct PlaneViews {
  Image<float> depth{64, 48, 4.0f};
  Image<std::uint16_t> colour{64, 48};

  std::vector<reconstruct::FusionView> views(int count) const {
    const reconstruct::MapView<float> map = {depth.row(0), 64, 48,
                                             depth.pitch() * static_cast<std::ptrdiff_t>(sizeof(float))};
    const reconstruct::ImageView grey = {colour.row(0), 64, 48, colour.pitch() * 2, PixelType::kGrey16};
    std::vector<reconstruct::FusionView> result(
        count, {map, reconstruct::Camera{60, 60, 32, 24}, {}, {}, grey, {}, {}});
    for (int i = 0; i < count; ++i) result[i].cam_from_world.translation[0] = -0.5 * i / count;
    return result;
  }
};

TEST_F(ViewTest, FusionNamesDepthsThatDoNotFitTheSparsePoints) {
  const Scene scene = read_colmap_model(RECON_SMALL_SCENE "/sparse");
  run_program_on_scene({"--stage", "estimate"});
  std::vector<Image<float>> maps;
  std::vector<reconstruct::FusionView> views;
  const IndexLists seen = Visibility(scene).points_of_view;
  for (int i = 0; i < std::ssize(photos_); ++i) {
    const Image<float>& map = maps.emplace_back(depth_of_program(i, "photometric"));
    views.push_back(
        {{map.row(0), map.width(), map.height(), map.pitch() * 4}, camera_of(scene, i), pose_of(scene, i)});
    for (const int point : seen[i]) {
      const Vec3d& x = scene.points[point].position;
      views.back().points.push_back({x.x, x.y, x.z});
    }
  }
  const auto warnings = [&] { return fuse(device_, views).warnings; };
  const auto for_pixels = [&](const auto& change) {
    for (int i = 0; i < std::ssize(maps); ++i) {
      const Pinhole camera = as_pinhole(scene.cameras[scene.views[i].camera]).value();
      for (int y = 0; y < maps[i].height(); ++y)
        for (int x = 0; x < maps[i].width(); ++x)
          maps[i](x, y) = static_cast<float>(change(maps[i](x, y), norm(camera.ray(pixel_centre(x, y)))));
    }
  };
  EXPECT_THAT(warnings(), IsEmpty());
  for_pixels([](float depth, double) { return 1000 * depth; });
  EXPECT_THAT(warnings(),
              ElementsAre(AllOf(HasSubstr("the depths are 1000 times those of the sparse points ("),
                                HasSubstr("in another unit? divide them by 1000"))));
  EXPECT_EQ(fuse(device_, views, {{"depth-max", "20"}}).warnings.size(), 1u) << "though none lies within";
  for (reconstruct::FusionView& view : views) view.points.clear();
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("the depths are 1000 times those of other views (")));
  for_pixels([](float depth, double ray) { return depth / 1000 * ray; });
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("they seem to be distances to the camera")));
  for_pixels([](float depth, double ray) { return 1 / (depth / ray); });
  EXPECT_THROW(warnings(), InputError) << "inverse depths fit nothing";
}

TEST_F(ViewTest, FusionFindsTheBitsOfItsColours) {
  PlaneViews plane;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) plane.colour(x, y) = x < 32 ? 4095 : 0;  // white and black of 12 bits
  const reconstruct::Fusion fusion = fuse(device_, plane.views(2), {{"min-confidence", "0"}});
  std::size_t white = 0;
  for (const auto& point : fusion.cloud.points) white += point.colour[0] > 250 ? 1 : 0;
  EXPECT_GT(white, fusion.cloud.points.size() / 4) << fusion.cloud.points.size();
}

TEST_F(ViewTest, FusionLimitsTheSourcesOfAView) {
  const PlaneViews plane;
  std::vector<reconstruct::FusionView> views = plane.views(34);
  const auto fault = [&] { return fault_of([&] { fuse(device_, views); }); };
  views[1].sources = {0, 2, 0};
  EXPECT_THAT(fault(), HasSubstr("view 1 has the source 0 twice"));
  views[1].sources.clear();
  for (int i = 0; i < 34; ++i)
    if (i != 1) views[1].sources.push_back(i);
  EXPECT_THAT(fault(), HasSubstr("view 1 has 33 sources; it may have 32"));
}

}  // namespace
}  // namespace recon
