#include <algorithm>
#include <limits>

#include "scene/view_selection.hpp"

namespace recon {

std::vector<int> covering_sources(std::span<const std::vector<SampleScore>> sources,
                                  std::span<const double> weights, int count) {
  constexpr double kChosen = -1;
  std::vector<double> covered(weights.size(), 0.0);
  const auto gain = [&](std::size_t source) {
    double sum = 0;
    for (const SampleScore& shown : sources[source])
      sum += weights[shown.sample] * static_cast<double>(shown.score) / (kHalfShown + covered[shown.sample]);
    return sum;
  };
  // What a source adds only falls as others are chosen: a value from before is an upper bound.
  std::vector<double> bounds(sources.size(), std::numeric_limits<double>::infinity());
  std::vector<int> chosen;
  const std::size_t wanted = std::min(sources.size(), static_cast<std::size_t>(std::max(count, 0)));
  while (chosen.size() < wanted) {
    const auto most = std::ranges::max_element(bounds);
    const auto source = static_cast<std::size_t>(most - bounds.begin());
    const double now = gain(source);
    if (now < *most) {
      *most = now;
      continue;
    }
    *most = kChosen;
    chosen.push_back(static_cast<int>(source));
    for (const SampleScore& shown : sources[source])
      covered[shown.sample] += static_cast<double>(shown.score);
  }
  return chosen;
}

}  // namespace recon
