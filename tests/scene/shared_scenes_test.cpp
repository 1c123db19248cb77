// View selection and depth ranges on the shared scenes, against their ground truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "core/quantile.hpp"
#include "io/model/colmap_model.hpp"
#include "scene/depth_range.hpp"
#include "scene/sparse_index.hpp"
#include "scene/view_geometry.hpp"
#include "scene/view_selection.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = RECON_SHARED_DIR;

struct Planned {
  Scene scene;
  std::vector<std::vector<int>> sources;
  std::vector<DepthRange> ranges;    ///< where surfaces are expected
  std::vector<DepthRange> searched;  ///< where they are searched
};

Planned plan(const fs::path& model) {
  Planned p;
  p.scene = read_colmap_model(model);
  const SceneIndex index(p.scene);
  p.sources = select_sources(index, {});
  for (const DepthRange& range : expected_ranges(index, p.sources)) {
    const int view = static_cast<int>(p.ranges.size());
    p.ranges.push_back(range);
    p.searched.push_back(search_range(index, view, p.sources[p.ranges.size() - 1], range));
  }
  return p;
}

/// 2 and 98 % quantiles of the known ground truth of a view, in metres.
DepthRange true_range(const fs::path& scene, const std::string& image_name) {
  const cv::Mat depth = cv::imread(
      (scene / "gt_depth" / (fs::path(image_name).stem().string() + ".png")).string(), cv::IMREAD_UNCHANGED);
  EXPECT_EQ(depth.type(), CV_16UC1) << image_name;
  std::vector<double> metres;
  for (int y = 0; y < depth.rows; ++y)
    for (int x = 0; x < depth.cols; ++x)
      if (const auto millimetres = depth.at<std::uint16_t>(y, x)) metres.push_back(millimetres / 1000.0);
  return {quantile(metres, 0.02), quantile(metres, 0.98)};
}

int views_whose_truth_is_covered(const fs::path& scene, const Planned& p) {
  int covered = 0;
  for (std::size_t v = 0; v < p.scene.views.size(); ++v) {
    const DepthRange truth = true_range(scene, p.scene.views[v].name);
    covered += p.searched[v].near <= truth.near && truth.far <= p.searched[v].far;
  }
  return covered;
}

class SharedScene : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(scene_path)) GTEST_SKIP() << scene_path << " is not there";
  }
  const fs::path scene_path = kShared / GetParam();
};

INSTANTIATE_TEST_SUITE_P(Scenes, SharedScene,
                         ::testing::Values("scenes-rendered/courtyard", "scenes-real/glue-box-rgbd",
                                           "scenes-real/herz-jesu-p8", "scenes-real/hololens-table",
                                           "scenes-real/middlebury-temple", "scenes-real/ulb-toystable"));

TEST_P(SharedScene, RangesHoldTheSparsePointsAndAllViewsHaveSources) {
  const Planned p = plan(scene_path / "sparse");
  const SceneGeometry views(p.scene);
  std::vector<int> seen(p.scene.views.size()), inside(p.scene.views.size());
  for (const SparsePoint& point : p.scene.points)
    for (const TrackElement& element : point.track) {
      const auto v = static_cast<std::size_t>(element.view);
      const double z = views[element.view].depth(point.position);
      ++seen[v];
      inside[v] += p.ranges[v].near <= z && z <= p.ranges[v].far;
    }
  for (std::size_t v = 0; v < seen.size(); ++v) {
    EXPECT_GE(inside[v], 0.98 * seen[v]) << p.scene.views[v].name;
    EXPECT_GE(p.sources[v].size(), 3u) << p.scene.views[v].name;
    EXPECT_LT(p.ranges[v].far, 16 * p.ranges[v].near) << p.scene.views[v].name;
  }
}

TEST(SharedScenes, CourtyardSearchHoldsTheTruth) {
  const fs::path scene = kShared / "scenes-rendered/courtyard";
  if (!fs::exists(scene)) GTEST_SKIP() << scene << " is not there";
  EXPECT_GE(views_whose_truth_is_covered(scene, plan(scene / "sparse")), 17);  // of 18
}

TEST(SharedScenes, SensorScenesSearchHoldsTheTruthWithPointsAndWithout) {
  for (const auto& [name, views] : {std::pair{"glue-box-rgbd", 17}, {"hololens-table", 20}}) {
    const fs::path scene = kShared / "scenes-real" / name;
    if (!fs::exists(scene)) GTEST_SKIP() << scene << " is not there";
    EXPECT_GE(views_whose_truth_is_covered(scene, plan(scene / "sparse")), views - 1) << name;
    const Planned without = plan(scene / "sparse_original");
    ASSERT_TRUE(without.scene.points.empty());
    EXPECT_GE(views_whose_truth_is_covered(scene, without), views - 1) << name;
    for (const auto& sources : without.sources) EXPECT_GE(sources.size(), 3u) << name;
  }
}

TEST(SharedScenes, ToysTableWithoutPoints) {
  const fs::path model = kShared / "scenes-real/ulb-toystable/sparse_nominal";
  if (!fs::exists(model)) GTEST_SKIP() << model << " is not there";
  const Planned p = plan(model);
  ASSERT_EQ(p.ranges.size(), 4u);
  for (std::size_t v = 0; v < 4; ++v) {
    EXPECT_LT(p.ranges[v].near, 0.39);
    EXPECT_GT(p.ranges[v].far, 0.84);
    EXPECT_EQ(p.sources[v].size(), 3u);
  }
}

// Views of the temple are 8 degrees apart, many rotated by 90 degrees in the image plane.
TEST(SharedScenes, TempleSourcesAreNeighboursOnTheRing) {
  const fs::path model = kShared / "scenes-real/middlebury-temple/sparse";
  if (!fs::exists(model)) GTEST_SKIP() << model << " is not there";
  const Planned p = plan(model);
  const SceneGeometry views(p.scene);
  for (std::size_t v = 0; v < p.sources.size(); ++v)
    for (std::size_t i = 0; i < std::min<std::size_t>(3, p.sources[v].size()); ++i) {
      const double angle =
          std::acos(dot(views[static_cast<int>(v)].axis, views[p.sources[v][i]].axis)) * 57.2958;
      EXPECT_LT(angle, 35) << p.scene.views[v].name;
      EXPECT_GT(angle, 4) << p.scene.views[v].name;
    }
}

}  // namespace
}  // namespace recon
