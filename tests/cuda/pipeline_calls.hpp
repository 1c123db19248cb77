#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "cuda/match/ad_census.hpp"
#include "cuda/match/transform.hpp"
#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/optimize/scanline/scanline.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "cuda/refine/median.hpp"
#include "cuda/refine/surfaces.hpp"
#include "cuda/testing/support.hpp"
#include "match/ad_census.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/scanline/scanline.hpp"
#include "refine/outliers.hpp"

/// The kernels of the stages of a pipeline, on a device whose memory is poisoned.

namespace recon::test {

/// Of a census, or of colours alone.
inline Volume<float> colour_costs(const ColourPair& pair, PairSide side, const DisparityRange& range,
                                  const CostOptions& cost) {
  const int width = pair.left.width, height = pair.left.height;
  const std::size_t pixels = element_count({width, height});
  const bool census = cost.kind == CostKind::kAdCensus;
  const CostTables tables =
      census ? ad_census_tables(cost.ad_census) : colour_difference_tables(cost.colour_cap);
  cuda::Call call;
  const auto upload_table = [&](const auto& table) {
    const int count = static_cast<int>(table.size());
    return call.upload(ImageView<const float>{table.data(), count, 1, count}, count);
  };
  const auto transformed = [&](const Rgb8* image) -> const std::uint64_t* {
    if (!census) return nullptr;
    auto* const grey = call.take<std::uint8_t>(pixels);
    auto* const codes = call.take<std::uint64_t>(pixels);
    cuda::queue_grey(image, width, height, grey, call.get());
    cuda::launch_transform({grey, false, width, width, height}, grey, {Transform::kCensus9x7}, codes,
                           call.get());
    return codes;
  };
  const bool left = side == PairSide::kLeft;
  const Rgb8* const reference = call.upload(left ? pair.left : pair.right, width);
  const Rgb8* const source = call.upload(left ? pair.right : pair.left, width);
  const cuda::DeviceVolume costs = call.take_volume(width, range.count, height);
  cuda::queue_colour_costs({reference, source, transformed(reference), transformed(source),
                            upload_table(tables.by_sum), upload_table(tables.by_bits), side, range.min},
                           costs, call.get());
  return call.download(costs);
}

/// Over images of 8 bits.
inline Volume<float> transform_costs(const GreyPair& pair, PairSide side, const DisparityRange& range,
                                     const CostOptions& cost) {
  const int width = pair.left.width, height = pair.left.height;
  const Transform kind = cost.transform.transform;
  cuda::Call call;
  std::array<std::byte*, 2> transformed{};
  for (std::size_t i = 0; i < 2; ++i) {
    transformed[i] = call.allocate([&](cuda::Arena& arena) {
      return cuda::take_transformed(kind, element_count({width, height}), arena);
    });
    const std::uint8_t* const grey = call.upload(i == 0 ? pair.left : pair.right, width);
    cuda::launch_transform({grey, false, width, width, height}, grey, cost.transform, transformed[i],
                           call.get());
  }
  const cuda::DeviceVolume costs = call.take_volume(width, range.count, height);
  cuda::launch_transform_volume(
      {transformed[0], transformed[1], width, height, range.min, range.count, cost.outside_cost}, kind, side,
      costs, call.get());
  return call.download(costs);
}

/// Another view has the size of the reference.
inline Volume<float> scanlines(VolumeView<const float> costs, ImageView<const Rgb8> reference,
                               const ScanlineView& other, const ScanlineOptions& options) {
  const int width = costs.width, height = costs.height;
  cuda::Call call;
  const auto edges_of = [&](ImageView<const Rgb8> image) {
    auto* const edges = call.take<std::uint8_t>(element_count({2, width, height}));
    cuda::queue_edges(call.upload(image, width), width, height, options.edge_threshold, edges, call.get());
    return edges;
  };
  const cuda::ScanlineEdges edges{edges_of(reference), other.image.empty() ? nullptr : edges_of(other.image),
                                  other.side, other.min_disparity};
  const cuda::DeviceVolume mean = call.take_volume(width, costs.planes, height);
  cuda::queue_scanlines(call.upload(costs), edges, options, mean, call.get());
  return call.download(mean);
}

inline Image<float> min_cost(VolumeView<const float> costs, int min_disparity) {
  cuda::Call call;
  auto* const disparity = call.take<float>(element_count({costs.width, costs.height}));
  cuda::queue_min_cost(call.upload(costs), min_disparity, disparity, call.get());
  return call.download(disparity, costs.width, costs.width, costs.height);
}

/// A left map and what its outliers are found and repaired by; images of one size.
struct RepairProblem {
  ImageView<const float> left, right;
  ImageView<const Outlier> outliers;  ///< where `check` does not find them
  ImageView<const Cross> crosses;
  ImageView<const Rgb8> colours;
  DisparityRange range;
};
/// The steps, in this order.
struct RepairSteps {
  bool check = false;
  float tolerance = 0.0f;
  int min_surface = 0;  ///< 0: surfaces are neither invalidated nor extended
  bool extend = false;  ///< needs min_surface > 0
  int votes = 0;        ///< iterations
  VotingOptions voting = {};
  bool interpolate = false;
};
struct RepairedMap {
  Image<float> disparity;
  Image<Outlier> outliers;
};

inline RepairedMap repaired(const RepairProblem& problem, const RepairSteps& steps) {
  const int width = problem.left.width, height = problem.left.height;
  const std::size_t pixels = element_count({width, height});
  cuda::Call call;
  const cuda::LabelledMap map{call.upload(problem.left, width),
                              steps.check ? call.take<Outlier>(pixels) : call.upload(problem.outliers, width),
                              call.upload(problem.right, width),
                              width,
                              height,
                              problem.range.min,
                              problem.range.count};
  if (steps.check) cuda::queue_left_right_check(map, steps.tolerance, call.get());
  const cuda::SurfaceScratch scratch{call.take<float>(pixels), call.take<int>(pixels), call.take<int>(pixels),
                                     call.take<int>(1)};
  if (steps.min_surface > 0) cuda::queue_small_surfaces(map, scratch, steps.min_surface, call.get());
  if (steps.extend) cuda::queue_extension(map, scratch, call.get());
  const cuda::OutlierList list{call.take<int>(pixels), call.take<int>(1)};
  cuda::queue_outlier_list(map, list, call.get());
  if (steps.votes > 0)
    cuda::queue_votes(map, list,
                      {call.upload(problem.crosses, width), call.take<std::int16_t>(pixels),
                       steps.voting.min_votes, steps.voting.min_share, steps.votes},
                      call.get());
  if (steps.interpolate)
    cuda::queue_interpolation(map, list, call.upload(problem.colours, width), call.get());
  return {call.download(map.disparity, width, width, height),
          call.download(map.outliers, width, width, height)};
}

/// adjust_discontinuities, enhance_subpixel, median_3x3 and smoothed_disparities, those that are asked for,
/// in this order.
struct MapSteps {
  bool adjust = false, enhance = false, median = false, smooth = false;
};
inline Image<float> refined(ImageView<const float> disparity, VolumeView<const float> costs, int min,
                            const MapSteps& steps) {
  const int width = disparity.width, height = disparity.height;
  cuda::Call call;
  const cuda::DeviceVolume given = call.upload(costs);
  float* map = call.upload(disparity, width);
  auto* other = call.take<float>(element_count({width, height}));
  if (steps.adjust) cuda::queue_adjustment(map, given, min, other, call.get()), std::swap(map, other);
  if (steps.enhance) cuda::queue_enhancement(map, given, min, call.get());
  if (steps.median) cuda::launch_median_3x3(map, width, height, other, call.get()), std::swap(map, other);
  if (steps.smooth)
    cuda::launch_smoothing(map, width, height, disparity_bounds(min, costs.planes), other, call.get()),
        std::swap(map, other);
  return call.download(map, width, width, height);
}

}  // namespace recon::test
