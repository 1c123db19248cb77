#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/refine/median.hpp"

namespace recon::cuda {
namespace {

/// The input of the optimizer, with the addresses of `at`.
SemiGlobalInput optimizer_input(const PairShape& shape, const PairSpec& options,
                                const SemiGlobalStream::Buffers& at) {
  SemiGlobalInput input;
  input.costs = at.costs;
  input.guide = at.grey.bytes[0];
  input.guide_pitch = shape.width;
  input.width = shape.width;
  input.height = shape.height;
  input.planes = options.range.count;
  input.options = options.semi_global;
  input.max_cost = whole_cost_limit(options.cost);
  input.right_view = options.refine.left_right;
  input.min_disparity = options.range.min;
  return input;
}

SemiGlobalStream::Buffers semi_global_buffers(const PairShape& shape, const PairSpec& options, Arena& arena) {
  const std::size_t pixels = element_count({shape.width, shape.height});
  SemiGlobalStream::Buffers at{};
  at.grey = PairGrey::take(shape, shape.words, arena);
  for (std::byte*& image : at.transformed)
    image = arena.take<std::byte>(pixels * transformed_bytes(options.cost.transform.transform));
  at.costs =
      arena.take<std::uint8_t>(element_count({shape.width, shape.height, path_planes(options.range.count)}));
  at.disparity = arena.take<float>(pixels);
  at.median = arena.take<float>(pixels);
  at.paths = SemiGlobal::take(optimizer_input(shape, options, at), arena);
  return at;
}

}  // namespace

std::size_t SemiGlobalStream::bytes(const PairShape& shape, const PairSpec& options) {
  return bytes_taken([&](Arena& arena) { semi_global_buffers(shape, options, arena); });
}

SemiGlobalStream::SemiGlobalStream(const PairShape& shape, const PairSpec& options, Arena& arena)
    : shape_(shape),
      range_(options.range),
      options_(options),
      checks_(winner_checks(options)),
      at_(allocate(arena, [&](Arena& memory) { return semi_global_buffers(shape, options, memory); })),
      optimizer_(optimizer_input(shape, options, at_), at_.paths) {
  EXPECTS(options_.cost.outside_cost >= 0 && options_.cost.outside_cost <= 255);
}

void SemiGlobalStream::upload(const PairProblem& problem, PairWorkspace& workspace) {
  at_.grey.upload(problem.images, workspace);
}

void SemiGlobalStream::queue(PairWorkspace& workspace) const {
  const Stream& stream = workspace.stream;
  optimizer_.queue_clear(stream);
  queue_transform(stream);
  queue_costs(stream);
  optimizer_.queue_paths(stream);
  optimizer_.queue_winner(stream);
  queue_disparity(stream);
  queue_median(stream);
}

void SemiGlobalStream::queue_transform(const Stream& stream) const {
  for (int i = 0; i < 2; ++i)
    launch_transform(at_.grey.view(i, shape_), options_.cost.transform, at_.transformed[i], stream.get());
}

void SemiGlobalStream::queue_costs(const Stream& stream) const {
  const TransformedPair pair{
      at_.transformed[0], at_.transformed[1],        shape_.width, shape_.height, range_.min,
      range_.count,       options_.cost.outside_cost};
  launch_transform_costs(pair, options_.cost.transform.transform, at_.costs, path_planes(range_.count),
                         stream.get());
}

void SemiGlobalStream::queue_disparity(const Stream& stream) const {
  launch_pair_disparity({optimizer_.winners(), optimizer_.right_keys(), shape_.width, shape_.height}, checks_,
                        range_.min, at_.disparity, stream.get());
}

void SemiGlobalStream::queue_median(const Stream& stream) const {
  if (options_.refine.median)
    launch_median_3x3(at_.disparity, shape_.width, shape_.height, at_.median, stream.get());
}

Image<float> SemiGlobalStream::download(PairWorkspace& workspace) const {
  Image<float> map(shape_.width, shape_.height);
  workspace.staging.download(options_.refine.median ? at_.median : at_.disparity, shape_.width, map.view(),
                             workspace.stream);
  return map;
}

}  // namespace recon::cuda
