#include "optimize/belief/belief_layout.hpp"

#include "core/aligned_buffer.hpp"
#include "core/error.hpp"

namespace recon {
std::ptrdiff_t belief_pitch(int columns) {
  constexpr std::ptrdiff_t kStep = 32;
  return ((columns + kStep - 1) / kStep | 1) * kStep;
}

BeliefPyramid belief_pyramid(const BeliefShape& shape, const BeliefOptions& options, int first_kept) {
  BeliefPyramid pyramid;
  pyramid.element_bytes = options.storage == BeliefStorage::kFloat ? 4 : 2;
  const auto take = [&](std::ptrdiff_t elements) {
    const std::ptrdiff_t begin = pyramid.elements;
    pyramid.elements += elements;
    return begin;
  };
  int width = shape.width, height = shape.height;
  for (int i = 0; i < options.levels; ++i) {
    BeliefLevel level;
    level.width = width;
    level.height = height;
    level.disparities = shape.disparities;
    level.rows = height;
    level.pitch = belief_pitch((width + 1) / 2);
    // Ten arrays of 4 bytes: an upper bound of all later products.
    element_count({level.pitch, shape.disparities, height, 2, 40, 2});
    if (i >= first_kept) {
      level.costs = take(level.size());
      for (std::ptrdiff_t& message : level.messages) message = take(level.size());
    }
    pyramid.levels.push_back(level);
    if (width == 1 && height == 1) break;
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  return pyramid;
}

float belief_cap(const BeliefOptions& options, int disparities) {
  return options.smoothness_cap > 0.0f ? options.smoothness_cap : static_cast<float>(disparities) / 7.5f;
}

void check_belief(const BeliefShape& shape, const BeliefOptions& options) {
  EXPECTS(shape.width > 0 && shape.height > 0);
  EXPECTS(shape.disparities >= 1 && shape.disparities <= kMaxBeliefDisparities);
  EXPECTS(options.levels >= 1 && options.iterations >= 1 && options.iterations <= 65536);
  EXPECTS(options.data_weight >= 0.0f && options.data_weight <= 1e6f);
  EXPECTS(options.data_cap >= 0.0f && options.data_cap <= 1e6f);
  EXPECTS(options.smoothness_cap >= 0.0f && options.smoothness_cap <= 60000.0f);
  EXPECTS(options.smoothing_sigma >= 0.0f && options.smoothing_sigma <= 100.0f);
}

}  // namespace recon
