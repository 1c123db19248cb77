#include <algorithm>

#include "cuda/device/grid.hpp"
#include "cuda/methods/stereo/block_device.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "methods/stereo/block/block_plan.hpp"

namespace recon::cuda {

namespace {

/// Bytes that the search reads beyond the end of left rows, and before the start of right rows.
constexpr int kReadAhead = 16;

std::ptrdiff_t rounded(std::ptrdiff_t bytes) {
  return padded_count<std::uint8_t>(1) * ((bytes + 63) / 64);
}

DeviceBlock shape_of(const BlockLevel& level, const BlockMatchingOptions& options) {
  DeviceBlock b{};
  b.width = level.width;
  b.height = level.height;
  b.columns = (level.width + 3) / 4 * 4;
  b.min = level.searched.min;
  b.hypotheses = level.hypotheses;
  b.region = level.region;
  b.options = options;
  b.limits = level.limits;
  b.image_pitch = rounded(b.columns);
  b.left_pitch = rounded(b.columns + kReadAhead);
  // The lanes of a warp read all their hypotheses, searched or not, and one more word.
  const int read = std::max(64 * packed_words(options, b.hypotheses), b.hypotheses);
  b.right_pitch = rounded(std::ptrdiff_t{options.steps_per_pixel} * b.columns + read + 16);
  b.pitch = rounded(b.width);
  b.claims_pitch = std::ptrdiff_t{options.steps_per_pixel} * (b.width - 1) + 1;
  return b;
}

/// Takes the memory of all levels from `arena`; returns the scratch memory of the general kernel, for the
/// level that needs most.
std::uint32_t* take_levels(std::vector<DeviceBlock>& levels, Arena& arena) {
  std::size_t scratch = 0;
  for (DeviceBlock& b : levels) {
    const std::ptrdiff_t height = b.height;
    b.images[0] = arena.take<std::uint8_t>(element_count({2 * b.image_pitch, height}));
    b.images[1] = b.images[0] + height * b.image_pitch;
    b.left = arena.take<std::uint8_t>(element_count({b.left_pitch, height}));
    b.right = arena.take<std::uint8_t>(element_count({b.right_pitch, height}) + kReadAhead) + kReadAhead;
    b.disparity = arena.take<float>(element_count({b.pitch, height}));
    b.map = arena.take<float>(element_count({b.pitch, height}));
    if (b.options.left_right >= 0) {
      b.winners = arena.take<std::uint16_t>(element_count({b.pitch, height}));
      b.claims = arena.take<std::uint64_t>(element_count({b.claims_pitch, height}));
    }
    if (packed_words(b.options, b.hypotheses) == 0) scratch = std::max(scratch, general_scratch_bytes(b));
  }
  return arena.take<std::uint32_t>(scratch / sizeof(std::uint32_t));
}

void queue_search(const DeviceBlock& b, std::uint32_t* scratch, cudaStream_t stream) {
  if (b.options.left_right >= 0)
    RECON_CUDA_TRY(cudaMemsetAsync(
        b.claims, 0xFF, element_count({b.claims_pitch, b.height}) * sizeof(std::uint64_t), stream));
  if (packed_words(b.options, b.hypotheses) > 0)
    launch_block_search(b, stream);
  else
    launch_general_block_search(b, scratch, stream);
}

/// Adds the stages of a level. @param finer  the next finer one; null for the finest
void add_level(const DeviceBlock& b, const DeviceBlock* finer, std::uint32_t* scratch,
               std::vector<PairStage>& stages) {
  if (finer != nullptr)
    stages.push_back({"half size", [b, finer = *finer](StageRun& run) {
                        for (int image = 0; image < 2; ++image)
                          launch_half_size(finer.images[image], finer.image_pitch, finer.width, finer.height,
                                           b.images[image], b.image_pitch, run.get());
                      }});
  stages.push_back({"prefilter", [b](StageRun& run) { launch_block_prepare(b, run.get()); }});
  stages.push_back({finer == nullptr ? "search" : "coarse search",
                    [=](StageRun& run) { queue_search(b, scratch, run.get()); }});
  stages.push_back({"checks", [b](StageRun& run) {
                      if (b.limits.min_texture > 0) launch_block_texture(b, run.get());
                      launch_block_finish(b, run.get());
                    }});
}

}  // namespace

void add_block_stages(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages) {
  const std::vector<BlockLevel> plan =
      plan_block_levels(shape.width, shape.height, options.range, options.block);
  std::vector<DeviceBlock> levels;
  for (const BlockLevel& level : plan) levels.push_back(shape_of(level, options.block));
  std::uint32_t* const scratch = take_levels(levels, arena);
  for (std::size_t i = 0; i < levels.size(); ++i)
    add_level(levels[i], i > 0 ? &levels[i - 1] : nullptr, scratch, stages.left);
  for (std::size_t i = levels.size() - 1; i > 0; --i) {
    const DisparityRange& searched = plan[i - 1].searched;
    stages.refinement.push_back(
        {"join levels", [fine = levels[i - 1], coarse = levels[i], max = searched.min + searched.count - 1](
                            StageRun& run) { launch_join_levels(fine, coarse, max, run.get()); }});
  }
  const DeviceBlock& finest = levels.front();
  for (int i = 0; i < 2; ++i) stages.targets.grey[i] = finest.images[i];
  stages.targets.grey_pitch = finest.image_pitch;
  stages.result = {.map = finest.map, .pitch = finest.pitch};
  stages.uploads.push_back([b = finest](const PairProblem& problem, Workspace& workspace) {
    workspace.staging.upload(problem.images.left, b.images[0], b.image_pitch, workspace.stream);
    workspace.staging.upload(problem.images.right, b.images[1], b.image_pitch, workspace.stream);
  });
  stages.download = [b = finest](Workspace& workspace) {
    Image<float> map(b.width, b.height);
    workspace.staging.download(b.map, b.pitch, map.view(), workspace.stream);
    return map;
  };
}

}  // namespace recon::cuda
