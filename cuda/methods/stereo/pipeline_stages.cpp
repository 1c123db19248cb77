#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "cuda/aggregate/aggregation.hpp"
#include "cuda/match/ad_census.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/methods/stereo/pipeline_views.hpp"
#include "cuda/optimize/scanline/scanline.hpp"
#include "methods/stereo/pair_stages.hpp"

namespace recon::cuda {
namespace {

bool has_volume_kernel(CostKind kind) {
  return kind == CostKind::kColourDifference || kind == CostKind::kAdCensus || kind == CostKind::kTransform;
}

void check_pipeline(const MethodSpec& pipeline) {
  const VotingOptions& voting = pipeline.voting;
  const int window = pipeline.cost.transform.rank_window;
  const bool transform = pipeline.cost.kind == CostKind::kTransform;
  check(pipeline, false);
  if (!has_volume_kernel(pipeline.cost.kind))
    throw UsageError("a GPU does not have this --cost; --device cpu does");
  EXPECTS(pipeline.left_right >= 0.0f && voting.iterations >= 0 && voting.min_votes >= 0);
  EXPECTS(voting.min_share >= 0.0f && voting.min_share <= 1.0f);
  EXPECTS(!transform || (pipeline.cost.outside_cost >= 0 && pipeline.cost.outside_cost <= 255));
  EXPECTS(!transform || pipeline.cost.transform.transform != Transform::kRank ||
          (window >= 3 && window <= kMaxRankWindow && window % 2 == 1));
}

/// Adds the tables of the costs of colours. @return null for transforms
float* add_tables(const MethodSpec& pipeline, Arena& arena, PairStages& stages) {
  if (pipeline.cost.kind == CostKind::kTransform) return nullptr;
  constexpr int kFloats = sizeof(CostTables) / sizeof(float);
  auto* const device = arena.take<float>(kFloats);
  const CostTables tables = pipeline.cost.kind == CostKind::kAdCensus
                                ? ad_census_tables(pipeline.cost.ad_census)
                                : colour_difference_tables(pipeline.cost.colour_cap);
  stages.constants.push_back([=](Workspace& workspace) {
    const ImageView<const float> row{reinterpret_cast<const float*>(&tables), kFloats, 1, kFloats};
    workspace.staging.upload(row, device, kFloats, workspace.stream);
  });
  return device;
}

/// Adds the images and what is derived from them.
PipelineImages add_images(const PairShape& shape, const MethodSpec& pipeline, Arena& arena,
                          PairStages& stages) {
  const std::size_t pixels = shape.pixels();
  const bool transform = pipeline.cost.kind == CostKind::kTransform;
  const bool scanline = pipeline.optimizer == Optimizer::kScanline;
  const TransformOptions transform_options =
      transform ? pipeline.cost.transform : TransformOptions{Transform::kCensus9x7};
  PipelineImages at{};
  at.tables = add_tables(pipeline, arena, stages);
  for (int i = 0; i < 2; ++i) {
    stages.targets.colours[i] = at.colours[i] = arena.take<Rgb8>(pixels);
    if (pipeline.cost.kind != CostKind::kColourDifference)
      at.transformed[i] = take_transformed(transform_options.transform, pixels, arena);
    if (scanline) at.edges[i] = arena.take<std::uint8_t>(2 * pixels);
    if (aggregator_of(pipeline.aggregation).guide == SupportGuide::kArms || (pipeline.refine.vote && i == 0))
      at.arms[i] = arena.take<Cross>(pixels);
  }
  stages.uploads.push_back([=](const PairProblem& problem, Workspace& workspace) {
    const auto fits = [&](const auto& image) {
      return image.width == shape.width && image.height == shape.height;
    };
    EXPECTS(fits(problem.colour.left) && fits(problem.colour.right));
    EXPECTS(fits(problem.images.left) && fits(problem.images.right));
    workspace.staging.upload(problem.colour.left, at.colours[0], shape.width, workspace.stream);
    workspace.staging.upload(problem.colour.right, at.colours[1], shape.width, workspace.stream);
  });
  if (transform || pipeline.optimizer == Optimizer::kSemiGlobal)
    at.grey = PairGrey::add(shape, shape.words && transform, arena, stages);
  auto* const luma = pipeline.cost.kind == CostKind::kAdCensus ? arena.take<std::uint8_t>(pixels) : nullptr;
  const bool from_luma = pipeline.cost.kind == CostKind::kAdCensus;
  stages.images.push_back(
      {"images",
       [=, threshold = pipeline.scanline.edge_threshold, cross = pipeline.aggregation.cross](StageRun& run) {
         const int width = shape.width, height = shape.height;
         for (int i = 0; i < 2; ++i) {
           if (from_luma) queue_grey(at.colours[i], width, height, luma, run.get());
           const DeviceGrey grey =
               from_luma ? DeviceGrey{luma, false, width, width, height} : at.grey.view(i, shape);
           if (at.transformed[i] != nullptr)
             launch_transform(grey, from_luma ? luma : at.grey.bytes[i], transform_options, at.transformed[i],
                              run.get());
           if (at.edges[i] != nullptr)
             queue_edges(at.colours[i], width, height, threshold, at.edges[i], run.get());
           if (at.arms[i] != nullptr)
             queue_cross_arms({at.colours[i], width, width, height}, cross, at.arms[i], width, run.get());
         }
       }});
  return at;
}

/// The stages of a view, from its costs to its winners.
class ViewStages {
 public:
  /// Takes the memory of the costs.
  /// @param disparity  receives the labels
  /// @param subpixel   the same of the semi-global optimizer with their sub-pixel part; may be null
  ViewStages(const PairShape& shape, const PairSpec& options, const PipelineImages& images, PairSide side,
             float* disparity, float* subpixel, Arena& arena, std::vector<PairStage>& stages)
      : shape_(shape),
        range_(options.range),
        options_(options),
        images_(images),
        side_(side),
        own_(side == PairSide::kLeft ? 0 : 1),
        disparity_(disparity),
        subpixel_(subpixel),
        arena_(arena),
        stages_(stages) {
    const int planes = range_.count, width = shape_.width, height = shape_.height;
    volume_ = arena.take<float>(device_volume_floats(width, planes, height));
    // Scanlines follow the aggregation.
    arena.share([&] { aggregation_ = aggregation(arena); },
                [&] {
                  if (options_.optimizer == Optimizer::kScanline)
                    means_ = arena.take<float>(device_volume_floats(width, planes, height));
                });
  }

  /// Adds the stages up to the labels.
  void add_stages() {
    for_stages(kLabelStages, options_, [this](LabelStage stage) { add(stage); });
  }

 private:
  void add(LabelStage stage) {
    switch (stage) {
      case LabelStage::kOtherView:
        return;  // has stages of its own
      case LabelStage::kCosts:
        return add_costs();
      case LabelStage::kAggregation:
        return add_stage("aggregation",
                         [queue = aggregation_](StageRun& run) { run.costs = queue(run.costs, run.get()); });
      case LabelStage::kLabels:
        return add_labels();
      case LabelStage::kGraphCut:
        return add_graph_cut();
    }
  }

  template <class Queue>
  void add_stage(const char* name, Queue queue) {
    stages_.push_back({name, std::move(queue)});
  }

  void add_labels() {
    if (options_.optimizer == Optimizer::kSemiGlobal) return add_paths();
    if (options_.optimizer == Optimizer::kScanline) add_scanlines();
    add_stage("winner", [to = disparity_, min = range_.min](StageRun& run) {
      queue_min_cost(run.costs, min, to, run.get());
    });
  }

  void add_costs() {
    const int own = own_, other = 1 - own_;
    const DeviceVolume costs = device_volume(volume_, shape_.width, range_.count, shape_.height);
    if (options_.cost.kind == CostKind::kTransform) {
      const TransformedPair pair{
          images_.transformed[0], images_.transformed[1],    shape_.width, shape_.height, range_.min,
          range_.count,           options_.cost.outside_cost};
      return add_stage("cost", [=, kind = options_.cost.transform.transform, side = side_](StageRun& run) {
        run.costs = costs;
        launch_transform_volume(pair, kind, side, costs, run.get());
      });
    }
    const auto census = [&](int i) { return reinterpret_cast<const std::uint64_t*>(images_.transformed[i]); };
    const float* by_bits = images_.tables + kMaxChannelSum + 1;
    const ColourCosts views{images_.colours[own],
                            images_.colours[other],
                            census(own),
                            census(other),
                            images_.tables,
                            by_bits,
                            side_,
                            range_.min};
    add_stage("cost", [=](StageRun& run) {
      run.costs = costs;
      queue_colour_costs(views, costs, run.get());
    });
  }

  QueueAggregation aggregation(Arena& arena) const {
    const int own = own_, other = 1 - own_, min = range_.min, width = shape_.width;
    return take_aggregation({{images_.colours[own], images_.colours[other], width, side_, min},
                             {images_.arms[own], images_.arms[other], width, side_, min},
                             options_.aggregation,
                             max_cost(options_.cost),
                             width,
                             range_.count,
                             shape_.height},
                            arena);
  }

  /// The means of the paths are in whichever of the two volumes the costs are not.
  void add_scanlines() {
    const ScanlineEdges edges{images_.edges[own_], images_.edges[1 - own_], side_, range_.min};
    add_stage("scanline", [edges, by = options_.scanline, volume = volume_, means = means_](StageRun& run) {
      DeviceVolume mean = run.costs;
      mean.data = run.costs.data == volume ? means : volume;
      queue_scanlines(run.costs, edges, by, mean, run.get());
      run.costs = mean;
    });
  }

  /// The semi-global optimizer over the costs rounded to integers.
  void add_paths() {
    const int width = shape_.width, height = shape_.height;
    const QuantizedCosts quantized = take_quantized_costs(width, height, range_.count, arena_);
    SemiGlobalInput input(quantized, range_.count, options_.semi_global, whole_cost_limit(options_.cost));
    input.guide = images_.grey.bytes[own_];
    input.guide_pitch = width;
    const SemiGlobal paths(input, SemiGlobal::take(input, arena_));
    add_stage("sgm", [=, min = range_.min, steps = whole_cost_steps(options_.cost), disparity = disparity_,
                      subpixel = subpixel_](StageRun& run) {
      launch_whole_costs(run.costs, steps, input.max_cost, quantized, run.get());
      paths.queue(run.stream);
      const PairWinners winners{paths.winners(), nullptr, width, height};
      WinnerChecks unchecked;
      launch_pair_disparity(winners, unchecked, min, disparity, run.get());
      unchecked.subpixel = true;
      if (subpixel != nullptr) launch_pair_disparity(winners, unchecked, min, subpixel, run.get());
    });
  }

  /// Minimises the energy of a view's disparities by graph cut, on the host; complete on return.
  void add_graph_cut() {
    add_stage("graphcut", [spec = options_, side = side_, disparity = disparity_](StageRun& run) {
      const ImageView<const std::uint8_t> guide =
          side == PairSide::kLeft ? run.images.left : run.images.right;
      Image<float> map(guide.width, guide.height);
      run.workspace.staging.download(disparity, guide.width, map.view(), run.stream);
      on_host(run.costs, run.workspace, run.stream,
              [&](Volume<float> costs) { cut_disparities(spec, costs.view(), guide, map.view()); });
      run.workspace.staging.upload<float>(map.view(), disparity, guide.width, run.stream);
    });
  }

  const PairShape shape_;
  const DisparityRange range_;
  const PairSpec& options_;
  const PipelineImages& images_;
  const PairSide side_;
  const int own_;  ///< index of the view
  float *const disparity_, *const subpixel_;
  float* volume_;
  QueueAggregation aggregation_;
  float* means_ = nullptr;  ///< of scanlines
  Arena& arena_;
  std::vector<PairStage>& stages_;
};

}  // namespace

void add_pipeline_stages(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages) {
  constexpr std::size_t kMaxConcurrentBytes = std::size_t{128} << 20;
  check_pipeline(options);
  const PipelineImages images = add_images(shape, options, arena, stages);
  PipelineMaps maps;
  maps.left = arena.take<float>(shape.pixels());
  if (options.refine.left_right) maps.right = arena.take<float>(shape.pixels());
  if (options.refine.subpixel && options.optimizer == Optimizer::kSemiGlobal)
    maps.subpixel = arena.take<float>(shape.pixels());
  const auto add_view = [&](PairSide side, float* disparity, float* subpixel,
                            std::vector<PairStage>& of_view) {
    ViewStages(shape, options, images, side, disparity, subpixel, arena, of_view).add_stages();
  };
  const std::size_t before = arena.used();
  if (matches_other_view(options)) {
    add_view(PairSide::kRight, maps.right, nullptr, stages.right);
    stages.side_by_side = !has_graph_cut(options) && arena.used() - before <= kMaxConcurrentBytes;
    if (!stages.side_by_side) arena.rewind(before);  // one after the other in the same memory
  }
  add_view(PairSide::kLeft, maps.left, maps.subpixel, stages.left);
  stages.set_result(PairRefinement(shape, options, images, maps, arena, stages).add_steps(), shape);
}

}  // namespace recon::cuda
