// reconstruct-evaluate cloud against scans as ETH3D and Tanks and Temples have them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/run_program.hpp"
#include "core/vec.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

class EvaluateReference : public testing::Test {
 protected:
  Outcome run(const std::string& arguments) const {
    return run_in(folder_.path(), "'" RECON_EVALUATE "' cloud " + arguments);
  }

  void write_ply(const std::string& name, const std::vector<Vec3d>& points) const {
    std::string text = "ply\nformat ascii 1.0\nelement vertex " + std::to_string(points.size()) +
                       "\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    for (const Vec3d point : points)
      text += std::to_string(point.x) + " " + std::to_string(point.y) + " " + std::to_string(point.z) + "\n";
    spill(folder_ / name, text);
  }

  /// Two scans: the second one is turned by a quarter about z and moved by 10 along x.
  void write_project() const {
    write_ply("scans/scan1.ply", {{0, 0, 0}, {1, 0, 0}});
    write_ply("scans/second scan.ply", {{0, 0, 0}, {2, 0, 0}});
    spill(
        folder_ / "scans/scan_alignment.mlp",
        "<!DOCTYPE MeshLabDocument>\n<MeshLabProject>\n <MeshGroup>\n"
        "  <MLMesh label=\"a\" filename=\"scan1.ply\">\n   <MLMatrix44>\n1 0 0 0 \n0 1 0 0 \n0 0 1 0 \n0 0 0 "
        "1 \n"
        "</MLMatrix44>\n  </MLMesh>\n"
        "  <MLMesh filename=\"second scan.ply\" visible=\"1\">\n   <MLMatrix44>0 -1 0 10\n1 0 0 0\n0 0 1 0\n"
        "0 0 0 1</MLMatrix44>\n  </MLMesh>\n </MeshGroup>\n <RasterGroup/>\n</MeshLabProject>\n");
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluateReference, ScansOfAProjectAreMovedAsItSays) {
  write_project();
  write_ply("cloud.ply", {{0, 0, 0}, {1, 0, 0}, {10, 0, 0}, {10, 2, 0}});
  const auto figures = run("cloud.ply --reference scans/scan_alignment.mlp --thresholds 0.01 --json").json();
  EXPECT_EQ(figures["reference_points"], 4);
  EXPECT_EQ(figures["scores"][0]["f1"], 1);
  write_ply("cloud.ply", {{0, 0, 0}, {1, 0, 0}, {12, 0, 0}});
  const auto worse = run("cloud.ply --reference scans/scan_alignment.mlp --thresholds 0.01 --json").json();
  EXPECT_NEAR(worse["scores"][0]["precision"], 2.0 / 3, 1e-12);
  EXPECT_EQ(worse["scores"][0]["recall"], 0.5);
}

TEST_F(EvaluateReference, TheCloudIsMovedAndScaledAndBothAreCropped) {
  write_ply("truth.ply", {{10, 0, 0}, {12, 0, 0}, {14, 0, 0}, {12, 0, 9}});
  write_ply("cloud.ply", {{0, 0, 0}, {1, 0, 0}, {9, 9, 9}});
  spill(folder_ / "trans.txt", "2.0e+00 0 0 10\n0 2 0 0\n0 0 2 0\n0 0 0 1\n");
  spill(folder_ / "crop.json", R"({"class_name": "SelectionPolygonVolume", "orthogonal_axis": "Z",
      "axis_min": -1, "axis_max": 1, "bounding_polygon": [[9, -1, 0], [13, -1, 0], [13, 1, 0], [9, 1, 0]]})");
  const std::string moved = "cloud.ply --reference truth.ply --thresholds 0.1 --transform trans.txt";
  const auto whole = run(moved + " --json").json();
  EXPECT_NEAR(whole["scores"][0]["precision"], 2.0 / 3, 1e-12);
  EXPECT_EQ(whole["scores"][0]["recall"], 0.5);
  const auto cropped = run(moved + " --crop crop.json --json").json();
  EXPECT_EQ(cropped["scores"][0]["f1"], 1) << cropped;
  EXPECT_EQ(cropped["points"], 3);
  EXPECT_EQ(cropped["points_cropped"], 1);
  EXPECT_EQ(cropped["reference_points_cropped"], 2);
  EXPECT_THAT(run(moved + " --crop crop.json").out,
              HasSubstr("left out, as they are outside the volume: 1, of the reference 2"));
}

TEST_F(EvaluateReference, WhatCannotBeUsedIsNamed) {
  write_project();
  write_ply("a.ply", {{0, 0, 0}});
  spill(folder_ / "short.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0\n");
  spill(folder_ / "projective.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 1 1\n");
  spill(folder_ / "crop.json", R"({"orthogonal_axis": "Z", "axis_min": 5, "axis_max": 6,
                                   "bounding_polygon": [[-1, -1, 0], [1, -1, 0], [0, 1, 0]]})");
  spill(folder_ / "line.json",
        R"({"orthogonal_axis": "Z", "axis_min": 5, "axis_max": 6, "bounding_polygon": [[-1, -1, 0]]})");
  spill(folder_ / "flat.json", R"({"orthogonal_axis": "W", "axis_min": 5, "axis_max": 6})");
  spill(folder_ / "none.mlp", "<MeshLabProject></MeshLabProject>");
  spill(folder_ / "unposed.mlp", "<MLMesh filename=\"a.ply\"></MLMesh>");
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"--reference a.ply --transform short.txt", "short.txt: "},
           {"--reference a.ply --transform projective.txt", "the last four are 0 0 0 1"},
           {"--reference a.ply --crop crop.json", "no point of the reference is within this volume"},
           {"--reference a.ply --crop line.json", "line.json: bounding_polygon: "},
           {"--reference a.ply --crop flat.json", "flat.json: orthogonal_axis: 'W' is none of X, Y, Z"},
           {"--reference none.mlp", "none.mlp: is no project of MeshLab"},
           {"--reference unposed.mlp", "unposed.mlp: is no project of MeshLab"},
           {"--reference gone.mlp", "gone.mlp"}}) {
    const Outcome outcome = run("a.ply " + arguments);
    EXPECT_EQ(outcome.exit_code, 3) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
  }
  fs::remove(folder_ / "scans/second scan.ply");
  EXPECT_THAT(run("a.ply --reference scans/scan_alignment.mlp").err, HasSubstr("second scan.ply"));
  EXPECT_EQ(run("a.ply --scene . --transform short.txt").exit_code, 2);
}

}  // namespace
}  // namespace recon
