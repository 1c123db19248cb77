#include "cuda/methods/sweep/sweep_stages.hpp"

#include <algorithm>
#include <utility>

#include "cuda/aggregate/aggregation.hpp"
#include "cuda/match/cross_arms.hpp"
#include "methods/stage_list.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon::cuda {
namespace {

/// The max number of parts into which the planes of a launch are divided among thread blocks.
constexpr int kMaxParts = 64;

SweepArgs args_of(const BlockRun& run, std::uint16_t* volume) {
  const SweepProblem& problem = run.problem;
  const PosedImage reference = cropped(problem.reference, run.part);
  SweepArgs args{};
  args.sources = static_cast<int>(problem.sources.size());
  args.storage = run.images.storage;
  for (int s = 0; s < args.sources; ++s)
    args.source[s] = run.images.view(reference, problem.sources[static_cast<std::size_t>(s)], s);
  args.reference_pitch = run.reference_pitch();
  for (int c = 0; c < reference.channels; ++c) args.reference[c] = run.reference(c);
  args.width = run.part.width;
  args.height = run.part.height;
  args.planes = problem.planes;
  args.radius = problem.cost.window / 2;
  args.combination = problem.cost.combination;
  args.best_k = args.combination == Combination::kMinimum ? 1 : problem.cost.best_k;
  args.volume_pitch = padded_count<std::uint16_t>(args.width);
  args.volume = volume;
  return args;
}

/// Adds the stages of a block and takes their memory.
class BlockBuilder : public BlockStages {
 public:
  BlockBuilder(const SweepShape& shape, const SweepPlan& plan, const Tile& size, Arena& arena)
      : shape_(shape), plan_(plan), size_(size), pitch_(padded_count<float>(size.width)), arena_(arena) {
    const std::ptrdiff_t row = padded_count<std::uint16_t>(size.width);
    volume = arena.take<std::uint16_t>(element_count({row, plan.rows, plan.planes}));
    const bool cut = has_graph_cut(shape);  // then the host goes on
    for_stages(kLabelStages, shape, [&](LabelStage stage) {
      if (!cut || stage < LabelStage::kLabels) add_stage(stage);
    });
    if (!cut) for_stages(kPlaneSteps, shape.refine, [&](PlaneStep step) { add_step(step); });
  }

 private:
  void add_stage(LabelStage stage) {
    switch (stage) {
      case LabelStage::kCosts:
        return add_stored_costs();
      case LabelStage::kAggregation:
        return add_aggregation();
      case LabelStage::kLabels:
        return add_labels();
      case LabelStage::kOtherView:
      case LabelStage::kGraphCut:
        EXPECTS(false);  // of pairs, and of the host
    }
  }

  void add_step(PlaneStep step) {
    switch (step) {
      case PlaneStep::kEdges:
        return add_edges();
    }
  }

  template <class Queue>
  void add(const char* name, Queue queue) {
    stages.push_back({name, std::move(queue)});
  }

  /// Adds the costs of the block in pieces that the volume stores; `use(run, piece)` queues the processing
  /// of each.
  template <class Use>
  void add_pieces(const char* name, Use use) {
    add(name, [use, to = volume, max_rows = plan_.rows, max_planes = plan_.planes](BlockRun& run) {
      const CostOptions& cost = run.problem.cost;
      const int planes = run.problem.planes.count, channels = run.problem.reference.channels;
      const int wave = blocks_per_wave(cost, channels);
      SweepArgs args = args_of(run, to);
      const int block_planes = max_planes_per_block(cost, channels, args.sources);
      for (int row = run.row; row < run.row_end; row += max_rows)
        for (int plane = 0; plane < planes; plane += max_planes) {
          args.row_begin = row, args.row_end = std::min(row + max_rows, run.row_end);
          args.plane_begin = plane, args.plane_end = std::min(plane + max_planes, planes);
          const CostPiece<std::uint16_t> piece{to,    args.volume_pitch,     row, args.row_end - row,
                                               plane, args.plane_end - plane};
          args.planes_per_block = planes_per_block(tile_count(args.width, piece.rows, cost, channels),
                                                   piece.planes, block_planes, wave, kMaxParts);
          launch_sweep(args, cost, channels, run.get());
          use(run, piece);
        }
    });
  }

  void add_piece_winners() {
    WinnerScan* scans = nullptr;
    if (plan_.planes < shape_.planes) scans = arena_.take<WinnerScan>(element_count({pitch_, size_.height}));
    add_pieces("winner", [=, to = results, width = size_.width, pitch = pitch_](
                             BlockRun& run, const CostPiece<std::uint16_t>& piece) {
      launch_piece_winners(piece, width, run.problem.planes, scans, to, pitch, run.get());
    });
  }

  void add_labels() {
    const bool stored = cost_storage(shape_) == CostStorage::kFloats;
    results = arena_.take<float>(element_count({3, pitch_, size_.height}));
    if (shape_.optimizer == Optimizer::kSemiGlobal)
      add_paths(stored);
    else if (stored)
      add("winner", [to = results, pitch = pitch_](BlockRun& run) {
        launch_block_winners(run.costs, run.problem.planes, to, pitch, run.get());
      });
    else
      add_piece_winners();
  }

  /// Adds the costs of the whole block as floats.
  void add_stored_costs() {
    const int width = size_.width, height = size_.height, planes = shape_.planes;
    const DeviceVolume costs =
        device_volume(arena_.take<float>(device_volume_floats(width, planes, height)), width, planes, height);
    add_pieces("cost", [=](BlockRun& run, const CostPiece<std::uint16_t>& piece) {
      launch_block_costs(piece, costs, run.get());
      run.costs = costs;
    });
  }

  void add_aggregation() {
    const AggregationOptions& by = shape_.aggregation;
    const int width = size_.width, height = size_.height, planes = shape_.planes;
    const SupportGuide guide = aggregator_of(by).guide;
    const bool crosses = guide == SupportGuide::kArms, coloured = guide != SupportGuide::kNone;
    const std::size_t pixels = element_count({width, height});
    auto* const colours = coloured ? arena_.take<Rgb8>(pixels) : nullptr;
    auto* const arms = crosses ? arena_.take<Cross>(pixels) : nullptr;
    if (coloured)
      add("colours", [=, cross = by.cross](BlockRun& run) {
        const bool grey = run.problem.reference.channels == 1;
        launch_block_colours({run.reference(0), run.reference(grey ? 0 : 1), run.reference(grey ? 0 : 2)},
                             run.reference_pitch(), width, height, colours, run.get());
        if (crosses) queue_cross_arms({colours, width, width, height}, cross, arms, width, run.get());
      });
    const auto queue = take_aggregation(
        {{colours, nullptr, width}, {arms, nullptr, width}, by, max_cost(shape_.cost), width, planes, height},
        arena_);
    add("aggregation", [queue](BlockRun& run) { run.costs = queue(run.costs, run.get()); });
  }

  /// Adds the semi-global optimizer. @param stored  whether the costs are stored as floats
  void add_paths(bool stored) {
    const QuantizedCosts quantized = take_quantized_costs(size_.width, size_.height, shape_.planes, arena_);
    SemiGlobalInput input(quantized, shape_.planes, shape_.semi_global, kInvalidQuantizedCost);
    input.sums = plan_.sums;
    const float cap = cost_cap(shape_.cost.kind);
    if (stored)
      add("quantize", [=](BlockRun& run) { launch_quantized_costs(run.costs, quantized, cap, run.get()); });
    else
      add_pieces("cost", [=](BlockRun& run, const CostPiece<std::uint16_t>& piece) {
        launch_quantized_costs(piece, quantized, cap, run.get());
      });
    const SemiGlobal::Buffers buffers = SemiGlobal::take(input, arena_);
    add("paths", [=, to = results, pitch = pitch_](BlockRun& run) {
      SemiGlobalInput guided = input;
      guided.guide = run.reference(0);
      guided.guide_pitch = run.reference_pitch();
      const SemiGlobal paths(guided, buffers);
      paths.queue(run.stream);
      launch_path_depth(paths.winners(), quantized, cap, run.problem.planes, to, pitch, run.get());
    });
  }

  void add_edges() {
    auto* const depths = arena_.take<float>(element_count({pitch_, size_.height}));
    add("edges", [=, to = results, pitch = pitch_](BlockRun& run) {
      launch_block_edges(run.costs, run.problem.planes, to, depths, pitch, run.get());
    });
  }

  const SweepShape& shape_;
  const SweepPlan& plan_;
  const Tile size_;
  const std::ptrdiff_t pitch_;  ///< of results, floats
  Arena& arena_;
};

}  // namespace

void DeviceImages::take_reference(const SweepShape& shape, Arena& arena) {
  for (int c = 0; c < shape.channels; ++c)
    reference[c] = arena.take<std::uint8_t>(padded_elements<std::uint8_t>(shape.width, shape.height));
}

void DeviceImages::take_sources(const SweepShape& shape, int first, int end, Arena& arena) {
  const int width = shape.source_width, height = shape.source_height;
  for (int s = first; s < end; ++s)
    for (int c = 0; c < shape.channels; ++c)
      if (storage == SourceStorage::kQuads)
        source[s][c] = arena.take<std::uint32_t>(padded_elements<std::uint32_t>(width, height));
      else
        source[s][c] = arena.take<std::uint8_t>(padded_elements<std::uint8_t>(width, height));
}

void DeviceImages::take_bytes(const SweepShape& shape, Arena& arena) {
  if (storage == SourceStorage::kQuads)
    bytes = arena.take<std::uint8_t>(padded_elements<std::uint8_t>(shape.source_width, shape.source_height));
}

DeviceImages DeviceImages::uploaded(const SweepImages& images, Workspace& workspace,
                                    CachedSources& cached) const {
  const bool quads = storage == SourceStorage::kQuads;
  const Stream& stream = workspace.stream;
  const auto upload_bytes = [&](const PosedImage& image, int c, std::uint8_t* to) {
    const ImageView<const std::uint8_t>& channel = image.channel[static_cast<std::size_t>(c)];
    const std::ptrdiff_t pitch = padded_count<std::uint8_t>(image.camera.width);
    if (image.on_device)
      copy_on_device(channel.data, channel.pitch, to, pitch, channel.width, channel.height, stream);
    else
      workspace.staging.upload(channel, to, pitch, stream);
  };
  // Into `memory`, or where the cache has or takes it.
  const auto upload_source = [&](const PosedImage& image, int c, void* memory) -> void* {
    const int width = image.camera.width, height = image.camera.height;
    const auto upload = [&](void* to) {
      if (!quads) return upload_bytes(image, c, static_cast<std::uint8_t*>(to));
      upload_bytes(image, c, bytes);
      launch_quads(bytes, static_cast<int>(padded_count<std::uint8_t>(width)), width, height,
                   static_cast<std::uint32_t*>(to), static_cast<int>(padded_count<std::uint32_t>(width)),
                   stream.get());
    };
    if (cached.cache != nullptr && image.id != 0) {
      const std::size_t size = quads ? padded_elements<std::uint32_t>(width, height) * sizeof(std::uint32_t)
                                     : padded_elements<std::uint8_t>(width, height);
      const DeviceLayout layout = quads ? DeviceLayout::kQuads : DeviceLayout::kBytes;
      if (void* kept = cached.cache->acquire({image.id, c, layout}, size, stream, cached.uses, upload))
        return kept;
    }
    upload(memory);
    return memory;
  };
  DeviceImages at = *this;
  for (int c = 0; c < images.reference.channels; ++c) upload_bytes(images.reference, c, reference[c]);
  for (std::size_t s = 0; s < images.sources.size(); ++s)
    for (int c = 0; c < images.sources[s].channels; ++c)
      at.source[s][c] = upload_source(images.sources[s], c, source[s][c]);
  return at;
}

DeviceSource DeviceImages::view(const PosedImage& warped, const PosedImage& image, int s) const {
  const int width = image.camera.width;
  const std::ptrdiff_t pitch = storage == SourceStorage::kQuads ? padded_count<std::uint32_t>(width)
                                                                : padded_count<std::uint8_t>(width);
  return {make_source_warp(warped.camera, warped.cam_from_world, image.camera, image.cam_from_world),
          width,
          image.camera.height,
          static_cast<int>(pitch),
          {source[s][0], source[s][1], source[s][2]}};
}

BlockStages block_stages(const SweepShape& shape, const SweepPlan& plan, const Tile& size, Arena& arena) {
  return BlockBuilder(shape, plan, size, arena);
}

}  // namespace recon::cuda
