// The memory of pipelines of single stages.

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "core/parallel.hpp"
#include "core/peak_memory.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/coloured_pair.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pair_stages.hpp"

namespace recon {
namespace {

/// Of a backend of two threads.
std::size_t match_memory(int width, int height, const PairSpec& spec) {
  return make_cpu_backend({2, {}})->pair_memory(width, height, spec).host_bytes;
}

TEST(PipelineMemory, GrowsWithTheVolumes) {
  const auto bytes = [&](const MethodSpec& pipeline, int width) {
    return match_memory(width, 400, {pipeline, {0, 64}});
  };
  const std::size_t volume = Volume<float>::bytes(500, 64, 400);
  for (const MethodSpec& pipeline : all_pipelines()) {
    EXPECT_LT(bytes(pipeline, 500), 4 * volume) << name_of(pipeline);
    EXPECT_LT(bytes(pipeline, 250), bytes(pipeline, 500)) << name_of(pipeline);
    EXPECT_THROW(match_memory(1 << 30, 1 << 30, {pipeline, {0, 64}}), OutOfMemory);
    const bool two = pipeline.aggregation.kind == Aggregation::kAdaptiveWeight ||
                     pipeline.optimizer == Optimizer::kScanline;
    EXPECT_GT(bytes(pipeline, 500), two ? 2 * volume : volume) << name_of(pipeline);
  }
}

/// The arrays kept when all is freed are as large as those of the peak; only those of a MiB or more are kept.
TEST(PipelineMemory, IsWhatIsSaid) {
  const int width = 700, height = 500;
  const ColouredPair pair = moved_pair(width, height, {0, 24}, 3);
  std::vector<MethodSpec> specs = {presets::ad_census(), presets::pipeline(), presets::semi_global(),
                                   presets::block_matching(), presets::belief_propagation()};
  specs.push_back(presets::plain_pipeline());
  specs.back().aggregation.kind = Aggregation::kConstantWindow;
  specs.back().optimizer = Optimizer::kGraphCut;
  specs.back().cost.kind = CostKind::kColourDifference;
  for (const MethodSpec& spec : specs) {
    PairProblem problem = pair.problem(spec);
    release_kept_memory();
    ThreadLimit(2).run([&] { return match_pair(problem); });
    const std::size_t taken = kept_memory();
    // Its images are the caller's.
    const std::size_t images = element_count({width + 64, height}) * (fused_stages(spec) ? 6 : 12);
    const std::size_t said = match_memory(width, height, problem.options);
    EXPECT_LE(taken, said) << name_of(spec);
    EXPECT_GE(taken + images, said / 20 * 11) << name_of(spec);
  }
}

/// Of costs that are made elsewhere, as on a GPU.
TEST(PipelineMemory, OfAGraphCutIsCountedByItsCode) {
  const int width = 400, height = 300, planes = 16;
  const PairSpec spec(presets::plain_pipeline(), {0, planes});
  const std::size_t said = counted_bytes(2, [&] {
    Volume<float> costs(width, planes, height);
    Image<float> disparity(width, height);
    cut_disparities(spec, costs.view(), sized_view<std::uint8_t>(width, height), disparity.view());
  });
  Volume<float> costs(width, planes, height);
  Image<float> disparity(width, height, 3.0f);
  const Image<std::uint8_t> guide(width, height, 7);
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < planes; ++d)
      for (int x = 0; x < width; ++x)
        costs.view().row(y, d)[x] = static_cast<float>(std::abs(d - x * planes / width));
  const std::size_t given = Volume<float>::bytes(width, planes, height) +
                            static_cast<std::size_t>(disparity.pitch()) * height * sizeof(float);
  const std::size_t taken = added_memory([&] {
    ThreadLimit(2).run([&] { cut_disparities(spec, costs.view(), guide.view(), disparity.view()); });
  });
  EXPECT_LE(taken + given, said + (std::size_t{2} << 20)) << "small things of the threads";
  EXPECT_GT(said, given + element_count({width, height, 2})) << "labels, and the cut";
}

}  // namespace
}  // namespace recon
