// Other programs read our files, and we read theirs. Skipped if they are not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "io/cloud/ply.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/scene_comparison.hpp"
#include "io/model/scene_samples.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

bool have(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// Runs a command in `folder`; returns its output.
std::string output_of(const std::string& command, const std::filesystem::path& folder) {
  const std::string log = (folder / "log.txt").string();
  const int status =
      std::system(("cd '" + folder.string() + "' && " + command + " >'" + log + "' 2>&1").c_str());
  const std::string output = slurp(log);
  EXPECT_EQ(status, 0) << command << "\n" << output;
  return output;
}

class Colmap : public testing::Test {
 protected:
  void SetUp() override {
    if (!have("command -v colmap")) GTEST_SKIP() << "colmap is not installed";
  }

  /// The scene written by us as `ours`, converted by COLMAP and read by us.
  Scene through_colmap(const Scene& scene, ColmapFormat ours) {
    write_colmap_model(folder_ / "ours", scene, ours);
    std::filesystem::create_directory(folder_ / "theirs");
    output_of(std::string("colmap model_converter --input_path ours --output_path theirs --output_type ") +
                  (ours == ColmapFormat::kText ? "BIN" : "TXT"),
              folder_.path());
    return read_colmap_model(folder_ / "theirs");
  }

  TemporaryFolder folder_;
};

TEST_F(Colmap, ReadsOurBinaryAndWeItsText) {
  const Scene scene = scene_of_all_models();
  expect_same(in_order_of_ids(through_colmap(scene, ColmapFormat::kBinary)), in_order_of_ids(scene));
}

TEST_F(Colmap, ReadsOurTextAndWeItsBinary) {
  // COLMAP 3.8 reads a name in text only up to its first blank.
  Scene scene = scene_of_all_models();
  for (View& view : scene.views) std::replace(view.name.begin(), view.name.end(), ' ', '_');
  expect_same(in_order_of_ids(through_colmap(scene, ColmapFormat::kText)), in_order_of_ids(scene));
}

/// Map coordinates, at which floats are half a unit apart.
constexpr Vec3d kFarAway{412345.5, 5180000.25, 120};

/// A unit sphere of 800 points, coloured, with normals.
void write_sphere(const std::filesystem::path& path, Vec3d centre = {0, 0, 0}, Vec3d offset = {0, 0, 0}) {
  PlyWriter writer(path, {PlyPosition::kFloat, offset});
  const std::uint32_t views[3] = {0, 1, 2};
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 40; ++j) {
      const double a = 3.14159265 * (i + 0.5) / 20, b = 2 * 3.14159265 * j / 40;
      const Vec3f n{static_cast<float>(std::sin(a) * std::cos(b)),
                    static_cast<float>(std::sin(a) * std::sin(b)), static_cast<float>(std::cos(a))};
      writer.add({centre + Vec3d{n.x, n.y, n.z},
                  n,
                  {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j), 200},
                  0.5f,
                  views});
    }
  writer.commit();
}

TEST(CloudCompare, TakesTheNumberOfViewsAsAScalarField) {
  if (!have("command -v CloudCompare")) GTEST_SKIP() << "CloudCompare is not installed";
  const TemporaryFolder folder;
  write_sphere(folder / "cloud.ply");
  output_of(
      "QT_QPA_PLATFORM=offscreen CloudCompare -SILENT -NO_TIMESTAMP -O cloud.ply -C_EXPORT_FMT ASC "
      "-ADD_HEADER -SAVE_CLOUDS",
      folder.path());
  const std::string text = slurp(folder / "cloud.asc");
  EXPECT_THAT(text, testing::StartsWith("//X Y Z R G B views "));
  EXPECT_THAT(text, testing::HasSubstr(" 0 0 200 3.0"));

  write_sphere(folder / "far.ply", kFarAway, kFarAway);
  output_of(
      "QT_QPA_PLATFORM=offscreen CloudCompare -SILENT -NO_TIMESTAMP -O far.ply -C_EXPORT_FMT ASC "
      "-SAVE_CLOUDS",
      folder.path());
  std::istringstream first(slurp(folder / "far.asc"));
  Vec3d point{};
  ASSERT_TRUE(first >> point.x >> point.y >> point.z);
  EXPECT_NEAR(norm(point), 1, 1e-6);
}

TEST(Open3d, ReadsOurCloudWithNormalsAndColours) {
  if (!have("/usr/bin/python3 -c 'import open3d'")) GTEST_SKIP() << "python3-open3d is not installed";
  const TemporaryFolder folder;
  write_sphere(folder / "a.ply");
  spill(folder / "read.py",
        "import numpy, open3d\n"
        "cloud = open3d.io.read_point_cloud('a.ply')\n"
        "points, normals = numpy.asarray(cloud.points), numpy.asarray(cloud.normals)\n"
        "colours = numpy.rint(numpy.asarray(cloud.colors) * 255).astype(int)\n"
        "print(len(points), bool(numpy.allclose(points, normals, rtol=0, atol=1e-6)), *colours[41])\n");
  EXPECT_EQ(output_of("/usr/bin/python3 read.py", folder.path()), "800 True 1 1 200\n");
  write_sphere(folder / "a.ply", kFarAway, kFarAway);
  EXPECT_EQ(output_of("/usr/bin/python3 read.py", folder.path()), "800 True 1 1 200\n");
}

TEST(MeshLab, ConvertsOurCloudAndWeReadItsPly) {
  if (!have("command -v meshlabserver") || !have("command -v xvfb-run"))
    GTEST_SKIP() << "meshlab or xvfb is not installed";
  const TemporaryFolder folder;
  write_sphere(folder / "a.ply");
  output_of("xvfb-run -a meshlabserver -i a.ply -o b.ply -m vc vn", folder.path());
  const PlyCloud ours = read_ply(folder / "a.ply"), theirs = read_ply(folder / "b.ply");
  ASSERT_EQ(theirs.positions.size(), 800u);
  EXPECT_EQ(theirs.colours, ours.colours);
  ASSERT_EQ(theirs.normals.size(), 800u);
  for (std::size_t i = 0; i < 800; ++i) {
    EXPECT_EQ(theirs.positions[i].y, ours.positions[i].y);
    EXPECT_EQ(theirs.normals[i].z, ours.normals[i].z);
  }

  write_sphere(folder / "far.ply", kFarAway, kFarAway);
  output_of("xvfb-run -a meshlabserver -i far.ply -o b.ply", folder.path());
  const PlyCloud moved = read_ply(folder / "b.ply");
  ASSERT_EQ(moved.positions.size(), 800u);
  for (std::size_t i = 0; i < 800; ++i) EXPECT_LT(norm(moved.positions[i] - ours.positions[i]), 1e-6);
}

}  // namespace
}  // namespace recon
