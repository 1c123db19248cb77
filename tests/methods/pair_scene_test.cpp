// Depth from rectified pairs on a rendered scene of which the truth is known to the last bit.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pair_depth.hpp"
#include "render/description_file.hpp"
#include "render/grey.hpp"
#include "render/render.hpp"

namespace recon {
namespace {

using test::grey;

/// Five views of boxes and a sphere before walls; the middle one is the reference.
struct RenderedScene {
  RenderedScene() {
    const std::string file = RECON_SOURCE_DIR "/tests/cli/data/small_scene.json";
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    SceneDescription description = parse_description(text.str(), file).scene;
    description.cameras[0] = resized(description.cameras[0], 240, 180);
    constexpr int kReference = 2;
    DepthRange range{1e9, 0};
    for (int i = 0; i < 5; ++i) {
      RenderedView view = render_view(description, i);
      images.push_back(grey(view.image));
      PosedImage posed;
      posed.camera = *as_pinhole(description.cameras[0]);
      posed.cam_from_world = description.views[static_cast<std::size_t>(i)].cam_from_world;
      (i == kReference ? reference : sources.emplace_back().image) = posed;
      if (i != kReference) continue;
      truth = std::move(view.depth);
      for (int y = 0; y < truth.height(); ++y)
        for (int x = 0; x < truth.width(); ++x) {
          range.near = std::min(range.near, 0.95 * static_cast<double>(truth(x, y)));
          range.far = std::max(range.far, 1.05 * static_cast<double>(truth(x, y)));
        }
    }
    reference.channel[0] = images[kReference].view();
    for (std::size_t i = 0; i < sources.size(); ++i) {
      PosedImage& source = sources[i].image;
      source.channel[0] = images[i < kReference ? i : i + 1].view();
      sources[i].pair =
          *rectify(reference.camera, reference.cam_from_world, source.camera, source.cam_from_world, range)
               .pair;
    }
  }

  std::vector<Image<std::uint8_t>> images;
  Image<float> truth;
  PosedImage reference;
  std::vector<PairSource> sources;
};

struct Floor {
  MethodSpec (*method)();
  const char* name;
  double known, right;  ///< least shares: of the pixels, and of the known ones within 1 %
};

class PairsOfAScene : public ::testing::TestWithParam<Floor> {};

TEST_P(PairsOfAScene, GiveDepthCloseToTheTruth) {
  const RenderedScene scene;
  const auto backend = make_cpu_backend({});
  PairDepthOptions options;
  options.matching = GetParam().method();
  const auto match = [&](const PairProblem& problem) { return backend->match(problem); };
  const ViewDepth view = estimate_view_from_pairs(match, scene.reference, scene.sources, options);
  int known = 0, right = 0;
  double bias = 0;
  for (int y = 0; y < view.depth.height(); ++y)
    for (int x = 0; x < view.depth.width(); ++x) {
      if (std::isnan(view.depth(x, y))) continue;
      ++known;
      const double error = static_cast<double>(view.depth(x, y) / scene.truth(x, y)) - 1;
      if (!(std::abs(error) < 0.01)) continue;
      ++right;
      bias += error;
    }
  const double known_share = static_cast<double>(known) / (view.depth.width() * view.depth.height());
  RecordProperty("known", std::to_string(known_share));
  RecordProperty("right", std::to_string(static_cast<double>(right) / known));
  EXPECT_GT(known_share, GetParam().known);
  EXPECT_GT(static_cast<double>(right) / known, GetParam().right);
  // Half a pixel anywhere between photo and rectified image would be 2e-3 and more.
  EXPECT_LT(std::abs(bias / right), 5e-4);
}

INSTANTIATE_TEST_SUITE_P(Methods, PairsOfAScene,
                         ::testing::Values(Floor{presets::semi_global, "sgm", 0.96, 0.92},
                                           Floor{presets::block_matching, "bm", 0.92, 0.90},
                                           Floor{presets::belief_propagation, "bp", 0.92, 0.88}),
                         [](const auto& floor) { return std::string(floor.param.name); });

}  // namespace
}  // namespace recon
