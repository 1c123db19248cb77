// The graph cut over the volume of a sweep: on a rendered scene it repairs wrong depths where texture is
// weak.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "core/parallel.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "match/cpu_sweep.hpp"
#include "match/posed_image.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon {
namespace {

constexpr int kCutPlanes = 64, kWindow = 7, kSources = 4;
constexpr double kNear = 2.5, kFar = 16.0;
/// Grey levels, root mean square over the window; the noise of the pictures is 1.2.
constexpr double kWeakTexture = 4.0;

/// View 0 of a scene and the volume of its sweep against the views that follow it.
struct Swept {
  std::vector<Image<std::uint8_t>> images;
  Volume<float> costs;
  Image<std::uint16_t> winners;
  Image<std::uint16_t> millimetres;
};

Swept swept(const std::filesystem::path& folder) {
  const Scene scene = read_colmap_model(folder / "sparse");
  Swept result;
  std::vector<PosedImage> views;
  for (std::size_t i = 0; i <= kSources; ++i) {
    const View& view = scene.views[i];
    result.images.push_back(read_grey_image(folder / "images" / view.name));
    PosedImage& image = views.emplace_back();
    image.camera = as_pinhole(scene.cameras[static_cast<std::size_t>(view.camera)]).value();
    image.cam_from_world = view.cam_from_world;
    image.channel[0] = result.images.back().view();
  }
  result.millimetres = read_png16(folder / "gt_depth" / scene.views[0].name);
  const int width = result.images[0].width(), height = result.images[0].height();
  result.costs = Volume<float>(width, kCutPlanes, height);
  const CpuSweep sweep =
      prepare_cpu_sweep(views[0], {views.begin() + 1, views.end()}, make_plane_set(kNear, kFar, kCutPlanes),
                        {CostKind::kZncc, kWindow, Combination::kBestK, 2});
  result.winners = Image<std::uint16_t>(width, height);
  sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> costs) {
    std::vector<Winner> row(static_cast<std::size_t>(tile.width));
    for (int y = 0; y < tile.height; ++y) {
      for (int d = 0; d < kCutPlanes; ++d)
        std::transform(costs.row(y, d), costs.row(y, d) + tile.width,
                       result.costs.view().row(tile.y + y, d) + tile.x, to_float);
      winner_take_all(costs, y, row.data());
      for (int x = 0; x < tile.width; ++x) {
        const int plane = row[static_cast<std::size_t>(x)].plane;
        result.winners(tile.x + x, tile.y + y) = plane < 0 ? kNoLabel : static_cast<std::uint16_t>(plane);
      }
    }
  });
  return result;
}

bool is_weak(const Image<std::uint8_t>& grey, int x, int y) {
  double count = 0, sum = 0, squares = 0;
  for (int j = y - kWindow / 2; j <= y + kWindow / 2; ++j)
    for (int i = x - kWindow / 2; i <= x + kWindow / 2; ++i) {
      if (!grey.view().contains(i, j)) continue;
      const double level = grey(i, j);
      count += 1, sum += level, squares += level * level;
    }
  return squares / count - sum * sum / (count * count) < kWeakTexture * kWeakTexture;
}

/// The share of weakly textured pixels of known depth that are more than one plane off.
double wrong_in_weak_texture(const Swept& scene, const Image<std::uint16_t>& labels) {
  double known = 0, wrong = 0;
  for (int y = 0; y < labels.height(); ++y)
    for (int x = 0; x < labels.width(); ++x) {
      if (scene.millimetres(x, y) == 0 || !is_weak(scene.images[0], x, y)) continue;
      const double depth = scene.millimetres(x, y) / 1000.0;
      const double plane = (1 / depth - 1 / kFar) / (1 / kNear - 1 / kFar) * (kCutPlanes - 1);
      known += 1;
      wrong += labels(x, y) == kNoLabel || std::abs(labels(x, y) - plane) > 1 ? 1 : 0;
    }
  EXPECT_GT(known, 1000);
  return wrong / known;
}

TEST(GraphCutOfASweep, LowersWrongDepthsInWeakTexture) {
  const std::filesystem::path folder =
      std::filesystem::path(RECON_SHARED_DIR) / "scenes-rendered" / "courtyard";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const Swept scene = swept(folder);
  Image<std::uint16_t> labels = scene.winners.clone();
  graph_cut(scene.costs.view(), scene.images[0].view(), GraphCutOptions{0.1f, 4}, labels.view());
  const double before = wrong_in_weak_texture(scene, scene.winners);
  const double after = wrong_in_weak_texture(scene, labels);
  std::printf("wrong in weak texture: %.1f %% of the winners, %.1f %% after the cut\n", 100 * before,
              100 * after);
  EXPECT_LT(after, 0.9 * before);
}

}  // namespace
}  // namespace recon
