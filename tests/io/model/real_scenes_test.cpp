// The scenes beside the repository: files of other programs have to be read and to be consistent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "io/image/image_file.hpp"
#include "io/model/colmap_in_memory.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/scene_comparison.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

struct SceneFact {
  const char* folder;
  std::size_t views, points;
};

class SharedScene : public testing::TestWithParam<SceneFact> {
 protected:
  void SetUp() override {
    if (!fs::exists(path())) GTEST_SKIP() << path() << " is not there";
  }
  static fs::path path() { return fs::path(RECON_SHARED_DIR) / GetParam().folder; }
};

TEST_P(SharedScene, IsReadWhole) {
  const Scene scene = read_colmap_model(find_model(path()));
  EXPECT_EQ(scene.views.size(), GetParam().views);
  EXPECT_EQ(scene.points.size(), GetParam().points);
  EXPECT_TRUE(std::is_sorted(scene.views.begin(), scene.views.end(),
                             [](const View& a, const View& b) { return a.name < b.name; }));
  for (const View& view : scene.views) {
    const Camera& camera = scene.cameras[static_cast<std::size_t>(view.camera)];
    EXPECT_EQ(image_size(path() / "images" / view.name), (ImageSize{camera.width, camera.height}))
        << view.name;
  }
}

TEST_P(SharedScene, HasPointsWhereItsObservationsAre) {
  // Poses, cameras and tracks are consistent only if all are read correctly.
  const Scene scene = read_colmap_model(find_model(path()));
  std::vector<double> errors;
  for (const SparsePoint& point : scene.points)
    for (const TrackElement& element : point.track) {
      const View& view = scene.views[static_cast<std::size_t>(element.view)];
      const auto pixel = Lens(scene.cameras[static_cast<std::size_t>(view.camera)])
                             .project(view.cam_from_world * point.position);
      if (!pixel) continue;
      const Vec2d d = *pixel - view.observations[element.observation].pixel;
      errors.push_back(std::hypot(d.x, d.y));
    }
  ASSERT_FALSE(errors.empty());
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  EXPECT_LT(*middle, 1.0) << "median reprojection error in pixels";
}

TEST_P(SharedScene, SurvivesBinary) {
  const Scene scene = read_colmap_model(find_model(path()));
  expect_same(parse_colmap_model(format_colmap_model(scene, ColmapFormat::kBinary), ColmapFormat::kBinary),
              scene);
}

INSTANTIATE_TEST_SUITE_P(Folders, SharedScene,
                         testing::Values(SceneFact{"scenes-real/glue-box-rgbd", 17, 2445},
                                         SceneFact{"scenes-real/herz-jesu-p8", 8, 6703},
                                         SceneFact{"scenes-real/hololens-table", 20, 2748},
                                         SceneFact{"scenes-real/middlebury-temple", 24, 4146},
                                         SceneFact{"scenes-real/ulb-toystable", 4, 4384},
                                         SceneFact{"scenes-rendered/courtyard", 18, 12278}),
                         [](const auto& test) {
                           std::string name = fs::path(test.param.folder).filename().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace recon
