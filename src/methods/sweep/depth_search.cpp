#include "methods/sweep/depth_search.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/connected_runs.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/plane_sweep.hpp"

namespace recon {
namespace {

/// Images are halved as long as no side becomes smaller than this.
constexpr int kMinSide = 100;
constexpr int kMinPlanes = 32, kMaxPlanesSearched = 128;
constexpr std::size_t kMaxSearchSources = 8;

/// Of the pixels: the least region that counts, the share of its depths at either end that do not, and the
/// least share that has to have a depth.
constexpr double kMinRegion = 0.006, kTail = 0.01, kMinKnown = 0.02;
/// Max difference of inverse depth within a region, in planes or relative.
constexpr float kMaxPlaneStep = 2.1f, kMaxRelativeStep = 0.02f;
/// What is found is widened by two planes and this factor in inverse depth.
constexpr double kMargin = 1.1;

int shortest_side(const SweepImages& images) {
  int side = std::min(images.reference.camera.width, images.reference.camera.height);
  for (const PosedImage& source : images.sources)
    side = std::min({side, source.camera.width, source.camera.height});
  return side;
}

/// The coarse sweep of a problem.
struct Search {
  Search(const SweepProblem& problem, const HalveChannel& halve_channel) {
    sweep.cost = problem.cost;
    sweep.optimizer = Optimizer::kSemiGlobal;
    SweepImages& images = sweep;
    images = problem.coarser.empty() ? static_cast<const SweepImages&>(problem) : problem.coarser.back();
    images.sources.resize(std::min(images.sources.size(), kMaxSearchSources));
    while (shortest_side(images) / 2 >= kMinSide) halve_all(images, halve_channel);
    const double near = 1 / inverse_depth(problem.planes, static_cast<float>(problem.planes.count - 1)),
                 far = 1 / problem.planes.inverse_far;
    const int planes = auto_plane_count(images.reference, images.sources, near, far);
    sweep.planes = make_plane_set(near, far, std::clamp(planes, kMinPlanes, kMaxPlanesSearched));
  }

  SweepProblem sweep;
};

/// The inverse depths of large regions.
std::vector<float> inverse_depths(const DepthEstimate& estimate, const SweepProblem& sweep) {
  const PhotometricFilterOptions filter;
  const float max_cost = swept_cost_levels(sweep.cost.kind).trusted;
  Image<float> inverse(estimate.depth.width(), estimate.depth.height());
  for (int y = 0; y < inverse.height(); ++y)
    for (int x = 0; x < inverse.width(); ++x) {
      const bool trusted =
          estimate.cost(x, y) <= max_cost && estimate.confidence(x, y) >= filter.min_confidence;
      inverse(x, y) = trusted ? 1.0f / estimate.depth(x, y) : kUnknown;
    }
  const double pixels = static_cast<double>(inverse.width()) * inverse.height();
  const float step = kMaxPlaneStep * sweep.planes.step;
  remove_small_regions(inverse.view(), static_cast<int>(std::ceil(kMinRegion * pixels)),
                       [step](float a, float b) {
                         return std::abs(a - b) <= std::max(step, kMaxRelativeStep * std::min(a, b));
                       });
  std::vector<float> known;
  for (int y = 0; y < inverse.height(); ++y)
    for (int x = 0; x < inverse.width(); ++x)
      if (!std::isnan(inverse(x, y))) known.push_back(inverse(x, y));
  return known;
}

}  // namespace

std::optional<DepthRange> found_range(Backend& backend, const SweepProblem& problem) {
  std::vector<Image<std::uint8_t>> pixels;
  return found_range({halved_into(pixels), [&](const SweepProblem& sweep) { return backend.sweep(sweep); }},
                     problem);
}

std::optional<DepthRange> found_range(const SearchWork& work, const SweepProblem& problem) {
  const Search search(problem, work.halve_channel);
  const DepthEstimate estimate = work.sweep(search.sweep);
  std::vector<float> known = inverse_depths(estimate, search.sweep);
  const double pixels = static_cast<double>(estimate.depth.width()) * estimate.depth.height();
  if (static_cast<double>(known.size()) < kMinKnown * pixels) return std::nullopt;
  const auto tail = static_cast<std::size_t>(kTail * static_cast<double>(known.size()));
  const double margin = 2 * static_cast<double>(search.sweep.planes.step);
  const auto ranked = [&](std::size_t rank) {
    const auto at = known.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(known.begin(), at, known.end());
    return static_cast<double>(*at);
  };
  const double far = ranked(tail) / kMargin - margin;
  const double near = ranked(known.size() - 1 - tail) * kMargin + margin;
  const double least = static_cast<double>(search.sweep.planes.inverse_far);
  return DepthRange{1 / near, 1 / std::max(far, least)};
}

SweepShape search_shape(const SweepShape& shape) {
  const SweepShape coarsest = has_patches(shape) ? coarsest_shape(shape) : shape;
  SweepShape search;
  search.cost = shape.cost;
  search.optimizer = Optimizer::kSemiGlobal;
  search.channels = shape.channels;
  search.planes = kMaxPlanesSearched;
  search.sources = std::min(shape.sources, static_cast<int>(kMaxSearchSources));
  search.width = coarsest.width, search.height = coarsest.height;
  search.source_width = coarsest.source_width, search.source_height = coarsest.source_height;
  int* const sides[] = {&search.width, &search.height, &search.source_width, &search.source_height};
  const auto shortest = [&] {
    return **std::ranges::min_element(sides, {}, [](int* side) { return *side; });
  };
  while (shortest() / 2 >= kMinSide)
    for (int* side : sides) *side = (*side + 1) / 2;
  return search;
}

DepthRange narrowed_range(const DepthRange& searched, const DepthRange& expected,
                          const std::optional<DepthRange>& found) {
  if (!found) return expected;
  DepthRange range = *found;
  if (!expected.guessed) range = {std::min(range.near, expected.near), std::max(range.far, expected.far)};
  range = {std::max(range.near, searched.near), std::min(range.far, searched.far)};
  return range.near < range.far ? range : expected;
}

}  // namespace recon
