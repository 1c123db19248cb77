#include "cuda/methods/sweep/patch_stages.hpp"

#include <algorithm>

#include "match/patch.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "optimize/patch_match/edge_planes_step.hpp"

namespace recon::cuda {
namespace {

/// Max bytes of the costs that the choice of sources holds at a time.
constexpr std::size_t kBandBytes = std::size_t{48} << 20;

/// Queues the choice of the sources of all pixels of a level, in bands of `band_rows` rows of costs.
void queue_choice(PatchArgs args, int band_rows, cudaStream_t stream) {
  const int height = args.states.height, step = band_rows - 4;
  for (int begin = 0; begin < height; begin += step) {
    const int end = std::min(begin + step, height);
    args.row_begin = std::max(begin - 2, 0);
    args.rows = std::min(end + 2, height) - args.row_begin;
    launch_choose(args, begin, end, stream);
  }
}

}  // namespace

PatchStages::PatchStages(const SweepShape& shape, SourceStorage storage, Arena& arena) : shape_(shape) {
  weights = arena.take<std::uint8_t>(256 * static_cast<std::size_t>(patch_samples(kMaxPatchRadius)));
  images.storage = storage;
  take_shared(arena);
  support_.levels = arena.take<unsigned long long>(2 * kComparedSources);
  images.take_reference(shape, arena);
  const int compared = std::min(shape.sources, kComparedSources);
  images.take_sources(shape, 0, compared, arena);
  const std::size_t pixels = element_count({shape.width, shape.height});
  // The planar prior follows when the costs and the other sources are not needed any more, then the results.
  arena.share(
      [&] {
        images.take_sources(shape, compared, shape.sources, arena);
        images.take_bytes(shape, arena);
        const std::size_t costs = element_count({shape.width, shape.sources, band_rows(shape)});
        costs_ = arena.take<float>(costs);
        rounded_costs_ = arena.take<std::uint8_t>(costs);
      },
      [&] {
        support_.choices = arena.take<std::uint32_t>(pixels);
        support_.balances = arena.take<std::int32_t>(pixels);
      },
      [&] {
        for (int i = 0; i < 2; ++i) results[i] = arena.take<float>(pixels);
      });
}

/// Takes the states of all levels, and what shares memory with them: a level reads the results of the coarser
/// one before it chooses sources, and what comes after all levels needs the finest states only.
void PatchStages::take_shared(Arena& arena) {
  const auto half = [](int side) { return (side + 1) / 2; };
  const SweepShape coarsest = coarsest_shape(shape_);
  const std::size_t pixels = element_count({shape_.width, shape_.height});
  const std::size_t coarse =
      shape_.patch_match.levels > 0 ? element_count({half(shape_.width), half(shape_.height)}) : 0;
  states_[0] = arena.take<PatchState>(pixels);
  if (has_step(shape_.refine, kNeedsColours)) colours = arena.take<Rgb8>(pixels);
  if (shape_.refine.smooth_patches || shape_.refine.patch_edges) other_ = arena.take<PatchState>(pixels);
  arena.share([&] { chosen_[0] = arena.take<PatchSources>(pixels); },
              [&] { states_[1] = arena.take<PatchState>(coarse); },
              [&] { support_.parents = arena.take<std::int32_t>(pixels); },
              [&] { results[2] = arena.take<float>(pixels); });
  arena.share([&] { chosen_[1] = arena.take<PatchSources>(coarse); },
              [&] { depths = arena.take<float>(padded_elements<float>(coarsest.width, coarsest.height)); },
              [&] { support_.kinds = arena.take<PixelKind>(pixels); },
              [&] { voters_ = arena.take<EdgeVoter>(pixels); });
}

int PatchStages::band_rows(const SweepShape& shape) {
  const std::size_t row =
      element_count({shape.width, shape.sources}) * (sizeof(float) + sizeof(std::uint8_t));
  return static_cast<int>(
      std::min<std::size_t>(kBandBytes / row, static_cast<std::size_t>(shape.height) + 4));
}

PatchArgs PatchStages::args(const SweepProblem& problem, int level, const SweepImages& of_level,
                            const DeviceImages& on_device, const PatchStates& coarse) const {
  const PosedImage& reference = of_level.reference;
  const int width = reference.camera.width, height = reference.camera.height;
  PatchArgs args{};
  args.reference = on_device.reference[0];
  args.reference_pitch = static_cast<int>(padded_count<std::uint8_t>(width));
  args.sources = static_cast<int>(of_level.sources.size());
  args.storage = on_device.storage;
  for (int s = 0; s < args.sources; ++s)
    args.source[s] = on_device.view(reference, of_level.sources[static_cast<std::size_t>(s)], s);
  args.weights = weights;
  args.iteration = patch_iteration(patch_range(problem), problem.patch_match);
  args.states = {states_[level % 2], width, height, width};
  args.chosen = chosen_[level == 0 ? 0 : 1];
  args.coarse = coarse;
  args.coarse_chosen = chosen_[1];
  args.costs = costs_;
  args.rounded_costs = rounded_costs_;
  return args;
}

std::vector<Stage<LevelRun>> PatchStages::at_level(int level) const {
  LevelStages stages;
  add_patches(level, stages);
  if (level > 0) return stages;
  for_stages(kPatchSteps, shape_.refine, [&](PatchStep step) { add_step(step, stages); });
  stages.push_back(
      {"depths", [this](LevelRun& run) { launch_patch_depths(run.args.states, results, run.get()); }});
  return stages;
}

void PatchStages::add_patches(int level, LevelStages& stages) const {
  if (level == shape_.patch_match.levels)
    stages.push_back({"first planes", [from = depths](LevelRun& run) {
                        const std::ptrdiff_t pitch = padded_count<float>(run.args.states.width);
                        launch_first_planes(run.args, from, pitch, run.get());
                      }});
  else
    stages.push_back({"finer planes", [](LevelRun& run) { launch_refine(run.args, run.get()); }});
  const int iterations = shape_.patch_match.iterations;
  for (int i = 0; i < std::max(iterations, 1); ++i) {
    stages.push_back(
        {"choice", [rows = band_rows(shape_)](LevelRun& run) { queue_choice(run.args, rows, run.get()); }});
    if (i >= iterations) continue;
    stages.push_back({"improvement", [i](LevelRun& run) {
                        run.args.iteration.index = i;
                        for (const int colour : {0, 1}) launch_improve(run.args, colour, run.get());
                      }});
    if (shape_.refine.smooth_patches && level == 0)
      stages.push_back({"smooth", [this](LevelRun& run) {
                          replace_states(run,
                                         [&](PatchState* to) { launch_smooth(run.args, to, run.get()); });
                        }});
  }
}

void PatchStages::add_step(PatchStep step, LevelStages& stages) const {
  switch (step) {
    case PatchStep::kPrior:
      return stages.push_back({"prior", [support = support_](LevelRun& run) {
                                 launch_supported_planes(run.args, support, run.get());
                               }});
    case PatchStep::kEdges:
      return stages.push_back({"edges", [this](LevelRun& run) {
                                 for (int pass = 0; pass < kEdgePasses; ++pass)
                                   replace_states(run, [&](PatchState* to) {
                                     launch_edges(run.args, pass, run.colours, voters_, to, run.get());
                                   });
                               }});
  }
}

template <class Launch>
void PatchStages::replace_states(LevelRun& run, const Launch& launch) const {
  PatchState* to = run.args.states.data == states_[0] ? other_ : states_[0];
  launch(to);
  run.args.states.data = to;
}

}  // namespace recon::cuda
