#pragma once

#include <span>
#include <vector>

namespace recon {

/// How well a source shows a sample, which is a place in the image of a reference view.
struct SampleScore {
  int sample;   ///< index
  float score;  ///< 0 or more; 1 is as well as a source can
};

/// The score above which what a sample has counts more than what it lacks: a low one, as a pixel is matched
/// in two sources at a time.
inline constexpr double kHalfShown = 0.3;

/// Orders sources so that the first ones together show all of the reference view: each next one adds most to
/// what those before it show, where a sample counts the less, the better it is shown already: by
/// weight * score / (kHalfShown + sum of the scores before). Ties by lowest index.
/// @param sources  what each of them shows
/// @param weights  of each sample
/// @param count    max number of sources
/// @return indices into `sources`
/// Sources: greedy choice of a submodular cover: G. Nemhauser, L. Wolsey, M. Fisher, An analysis of
/// approximations for maximizing submodular set functions, Mathematical Programming 1978; evaluation of the
/// most promising ones only: M. Minoux, Accelerated greedy algorithms, 1978.
std::vector<int> covering_sources(std::span<const std::vector<SampleScore>> sources,
                                  std::span<const double> weights, int count);

}  // namespace recon
