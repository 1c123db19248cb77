// The model with points of the cloud from which splats begin.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

class ExportedPoints : public SceneTest {
 protected:
  Outcome run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {scene().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return reconstruct(arguments);
  }
  fs::path splat() const { return dense() / "splat"; }
  Scene exported() const { return read_colmap_model(splat() / "sparse/0"); }
};

TEST_F(ExportedPoints, ArePointsOfTheCloudWithColoursAndTracks) {
  const Outcome outcome = run({"--export-points", "300"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Scene scene = exported(), views = read_colmap_model(dense() / "sparse");
  const PlyCloud cloud = read_ply(dense() / "fused.ply");
  const auto seen = read_visibility(dense() / "fused.ply.vis", cloud.positions.size(), views.views.size());
  ASSERT_LE(scene.points.size(), 300u);
  ASSERT_GE(scene.points.size(), 270u);
  EXPECT_THAT(outcome.err, HasSubstr("export: " + std::to_string(scene.points.size()) + " of " +
                                     std::to_string(cloud.positions.size()) + " points are in "));
  ASSERT_EQ(scene.views.size(), views.views.size());
  for (std::size_t i = 0; i < views.views.size(); ++i) {
    EXPECT_EQ(scene.views[i].name, views.views[i].name);
    EXPECT_TRUE(fs::exists(splat() / "images" / views.views[i].name)) << "beside the model";
  }
  double largest_error = 0;
  for (const SparsePoint& point : scene.points) {
    const auto at =
        std::ranges::find_if(cloud.positions, [&](Vec3d p) { return norm(p - point.position) == 0; });
    ASSERT_NE(at, cloud.positions.end());
    const auto index = static_cast<std::uint32_t>(at - cloud.positions.begin());
    EXPECT_EQ(point.colour, cloud.colours[index]);
    std::size_t count = 0;
    for (const auto& points : seen) count += std::ranges::binary_search(points, index) ? 1u : 0u;
    EXPECT_EQ(point.track.size(), count);
    for (const TrackElement& element : point.track) {
      EXPECT_TRUE(std::ranges::binary_search(seen[static_cast<std::size_t>(element.view)], index));
      const View& view = scene.views[static_cast<std::size_t>(element.view)];
      const Observation& observation = view.observations[element.observation];
      EXPECT_EQ(observation.point_id, point.id);
      const Vec3d x = view.cam_from_world * point.position;
      const std::vector<double>& k = scene.cameras[static_cast<std::size_t>(view.camera)].params;
      largest_error = std::max({largest_error, std::abs(k[0] * x.x / x.z + k[2] - observation.pixel.x),
                                std::abs(k[1] * x.y / x.z + k[3] - observation.pixel.y)});
    }
  }
  EXPECT_LT(largest_error, 1e-9);
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_EQ(report.at("export").at("points"), scene.points.size());
}

TEST_F(ExportedPoints, LeaveANearObjectItsShareBeforeAHugeFarPlane) {
  set_content(folder() / "far.json", R"({"samples": 1, "sparse": {"points": 100},
    "cameras": [{"model": "PINHOLE", "width": 96, "height": 72, "angle": 58}],
    "views": [{"arc": {"centre": [0, 0, 0], "radius": 3, "from": -110, "to": -70, "count": 4, "heights": [0]},
               "target": [0, 0, 0]}],
    "objects": [{"shape": "sphere", "radius": 0.6, "position": [0, 0, 0], "texture": {"pattern": "marble"}},
                {"shape": "quad", "width": 4000, "height": 4000, "rotate": [90, 0, 0], "position": [0, 1500, 0],
                 "texture": {"pattern": "marble", "grain": 300}}]})");
  const fs::path far = folder() / "far";
  ASSERT_EQ(run_program(folder(), {RECON_RENDER, (folder() / "far.json").string(), far.string(), "--quiet"})
                .exit_code,
            0);
  const Outcome outcome =
      run_program(folder(), {RECON_RECONSTRUCT, far.string(), "--device", "cpu", "--depth-maps",
                             (far / "gt_depth").string(), "--max-depth-error", "0.1", "--min-angle", "0",
                             "--export-points", "300"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto near = [](const auto& points, const auto& position) {
    return std::ranges::count_if(points, [&](const auto& it) { return norm(position(it)) < 10; });
  };
  const PlyCloud cloud = read_ply(far / "dense/fused.ply");
  const auto near_in_cloud = near(cloud.positions, [](Vec3d p) { return p; });
  ASSERT_GT(static_cast<std::ptrdiff_t>(cloud.positions.size()) - near_in_cloud, 600) << "far points";
  ASSERT_GT(near_in_cloud, 200);
  const Scene model = read_colmap_model(far / "dense/splat/sparse/0");
  EXPECT_GT(model.points.size(), 250u);
  EXPECT_GT(near(model.points, [](const SparsePoint& p) { return p.position; }), 20);
}

TEST_F(ExportedPoints, AreKeptUntilTheyAreStaleOrNotAskedFor) {
  ASSERT_EQ(run({"--export-points", "300"}).exit_code, 0);
  const std::string first = content(splat() / "sparse/0/points3D.bin");
  EXPECT_THAT(run({"--export-points", "300"}).err, HasSubstr("points is finished and kept"));
  // What Gaussian splatting makes of the points is read instead of new ones, and is not ours to remove.
  set_content(splat() / "sparse/0/points3D.ply", "of the first points");
  const Outcome fewer = run({"--export-points", "100"});
  EXPECT_THAT(fewer.err, HasSubstr("export: the stale one is made again: --export-points 300 -> 100"));
  EXPECT_THAT(fewer.err, HasSubstr("points3D.ply: another program made this file of earlier points"));
  EXPECT_EQ(content(splat() / "sparse/0/points3D.ply"), "of the first points");
  fs::remove(splat() / "sparse/0/points3D.ply");
  EXPECT_LE(exported().points.size(), 100u);
  ASSERT_EQ(run({"--export-points", "300", "--overwrite"}).exit_code, 0);
  EXPECT_EQ(content(splat() / "sparse/0/points3D.bin"), first) << "the same bytes each time";
  EXPECT_THAT(run({"--dry-run"}).out,
              HasSubstr("  removed: 4 files in " + splat().string() + ", which this run does not export\n"));
  EXPECT_TRUE(fs::exists(splat()));
  const Outcome without = run({});
  EXPECT_EQ(without.exit_code, 0);
  EXPECT_FALSE(fs::exists(splat()));
  const char* const removed = "splat are removed, as neither --export-points nor --export-priors is given";
  EXPECT_THAT(without.err, HasSubstr(removed));
  EXPECT_THAT(run({}).err, Not(HasSubstr(removed)));
  // With the cloud, too.
  ASSERT_EQ(run({"--export-points", "300"}).exit_code, 0);
  EXPECT_THAT(run({"--min-fused-views", "4", "--export-points", "300"}).err, Not(HasSubstr(removed)));
  EXPECT_THAT(run({"--min-fused-views", "3"}).err, HasSubstr(removed));
}

TEST_F(ExportedPoints, AreMadeAgainWhereTheirRecordLacksTheResult) {
  ASSERT_EQ(run({"--export-points", "300"}).exit_code, 0);
  for (const char* record :
       {"export", "fusion", "prepare/view00.png", "estimate/view00.png", "check/view00.png"}) {
    const fs::path file = dense() / "status" / (std::string(record) + ".json");
    auto damaged = nlohmann::json::parse(content(file));
    damaged["result"] = nlohmann::json::object();
    set_content(file, damaged.dump());
    const Outcome again = run({"--export-points", "300", "--json"});
    EXPECT_EQ(again.exit_code, 0) << record << ": " << again.err;
    EXPECT_GT(again.json().at("scenes").at(0).at("points"), 0) << record;
  }
}

TEST_F(ExportedPoints, HaveTheirImagesBesideThemInEachRun) {
  ASSERT_EQ(run({"--export-points", "300"}).exit_code, 0);
  fs::remove(splat() / "images");
  const Outcome kept = run({"--export-points", "300"});
  EXPECT_THAT(kept.err, HasSubstr("points is finished and kept"));
  EXPECT_TRUE(fs::exists(splat() / "images/view00.png"));
}

TEST_F(ExportedPoints, OfASmallCloudAreAll) {
  ASSERT_EQ(run({"--export-points", "1000000"}).exit_code, 0);
  EXPECT_EQ(exported().points.size(), read_ply(dense() / "fused.ply").positions.size());
}

TEST_F(ExportedPoints, AreAsManyAsANumberSays) {
  for (const char* number : {"-1", "x", "1.5"}) {
    const Outcome outcome = run({"--export-points", number});
    EXPECT_EQ(outcome.exit_code, 2) << number;
    EXPECT_THAT(outcome.err, HasSubstr("--export-points is ")) << number;
  }
}

}  // namespace
}  // namespace recon
