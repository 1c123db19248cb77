#include <algorithm>

#include "core/error.hpp"
#include "cuda/aggregate/aggregation.hpp"
#include "cuda/methods/stereo/pipeline_stream.hpp"
#include "match/ad_census.hpp"
#include "methods/stereo/pipeline_costs.hpp"

namespace recon::cuda {
namespace {

PipelineViewBuffers take_view(const PairShape& shape, int planes, const MethodSpec& pipeline, Arena& arena) {
  const int width = shape.width, height = shape.height;
  const std::size_t second = is_scanline(pipeline) ? device_volume_bytes(width, planes, height) : 0;
  PipelineViewBuffers at{};
  at.costs = arena.take<float>(device_volume_floats(width, planes, height));
  at.scratch =
      arena.take<std::byte>(std::max(second, aggregation_bytes(width, planes, height, pipeline.aggregation)));
  if (!is_semi_global(pipeline)) return at;
  at.quantized = arena.take<std::uint8_t>(element_count({width, height, path_planes(planes)}));
  at.paths = SemiGlobal::take(pipeline_path_input(shape, planes, pipeline), arena);
  return at;
}

/// Takes the memory of the images, and of what is derived from them.
void take_images(const PairShape& shape, const MethodSpec& pipeline, Arena& arena, PipelineBuffers& at) {
  const std::size_t pixels = element_count({shape.width, shape.height});
  const bool crosses = pipeline.aggregation.kind == Aggregation::kCrossBased;
  if (is_transform(pipeline) || is_semi_global(pipeline))
    at.grey = PairGrey::take(shape, shape.words && is_transform(pipeline), arena);
  if (is_ad_census(pipeline)) at.luma = arena.take<std::uint8_t>(pixels);
  if (!is_transform(pipeline)) at.tables = arena.take<float>(sizeof(CostTables) / sizeof(float));
  for (int i = 0; i < 2; ++i) {
    at.colours[i] = arena.take<Rgb8>(pixels);
    if (pipeline.cost.kind != CostKind::kColourDifference)
      at.transformed[i] = arena.take<std::byte>(pixels * transformed_bytes(transform_of(pipeline).transform));
    if (is_scanline(pipeline)) at.edges[i] = arena.take<std::uint8_t>(2 * pixels);
    if (crosses || (pipeline.refine.vote && i == 0)) at.arms[i] = arena.take<Cross>(pixels);
  }
}

}  // namespace

SemiGlobalInput pipeline_path_input(const PairShape& shape, int planes, const MethodSpec& pipeline) {
  SemiGlobalInput input;
  input.guide_pitch = shape.width;
  input.width = shape.width;
  input.height = shape.height;
  input.planes = planes;
  input.options = pipeline.semi_global;
  input.max_cost = whole_cost_limit(pipeline.cost);
  return input;
}

bool side_by_side(const PairShape& shape, int planes, const MethodSpec& pipeline) {
  constexpr std::size_t kMaxViewBytes = std::size_t{128} << 20;
  return pipeline.refine.left_right && !has_graph_cut(pipeline) &&
         bytes_taken([&](Arena& arena) { take_view(shape, planes, pipeline, arena); }) <= kMaxViewBytes;
}

PipelineBuffers take_pipeline_buffers(const PairShape& shape, int planes, const MethodSpec& pipeline,
                                      Arena& arena) {
  const Refinement& steps = pipeline.refine;
  const std::size_t pixels = element_count({shape.width, shape.height});
  PipelineBuffers at{};
  take_images(shape, pipeline, arena, at);
  at.view[0] = take_view(shape, planes, pipeline, arena);
  at.view[1] = side_by_side(shape, planes, pipeline) ? take_view(shape, planes, pipeline, arena) : at.view[0];
  at.left = arena.take<float>(pixels);
  if (steps.edges || steps.median) at.spare = arena.take<float>(pixels);
  if (steps.subpixel && is_semi_global(pipeline)) at.subpixel = arena.take<float>(pixels);
  if (!steps.left_right) return at;
  at.right = arena.take<float>(pixels);
  at.outliers = arena.take<Outlier>(pixels);
  if (steps.vote) at.bins = arena.take<std::int16_t>(pixels);
  if (steps.vote || steps.interpolate) {
    at.list.pixels = arena.take<int>(pixels);
    at.list.count = arena.take<int>(1);
  }
  if (!steps.interpolate) return at;
  at.reliable = arena.take<float>(pixels);
  at.labels = arena.take<int>(pixels);
  at.sizes = arena.take<int>(pixels);
  at.strips = arena.take<int>(1);
  return at;
}

}  // namespace recon::cuda
