#pragma once

#include <functional>
#include <optional>

#include "methods/sweep/plane_sweep.hpp"
#include "scene/depth_range.hpp"

namespace recon {

class Backend;

/// What a search for depths needs: images are where they are swept.
struct SearchWork {
  HalveChannel halve_channel;
  std::function<DepthEstimate(const SweepProblem& problem)> sweep;
};

/// Where a coarse sweep over all planes of a problem finds surfaces: images of a quarter of the size and
/// less, semi-global paths. Depths of small regions do not count, as most are wrong.
/// @returns nothing where next to nothing is found
/// @throws what Backend::sweep throws
std::optional<DepthRange> found_range(Backend& backend, const SweepProblem& problem);
std::optional<DepthRange> found_range(const SearchWork& work, const SweepProblem& problem);

/// The shape of the largest sweep of a search, for problems of a shape.
SweepShape search_shape(const SweepShape& shape);

/// The part of `searched` that has to be swept: where surfaces are found or, by sparse points, expected; the
/// expected range where none are found.
/// @param expected  within `searched`
DepthRange narrowed_range(const DepthRange& searched, const DepthRange& expected,
                          const std::optional<DepthRange>& found);

}  // namespace recon
