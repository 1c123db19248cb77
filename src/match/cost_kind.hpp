#pragma once

namespace recon {

/// What images are compared by: two pixels of a rectified pair, or, in a sweep, a reference window and a
/// warped source window.
enum class CostKind {
  kColourDifference,  ///< pairs: mean of |difference| over red, green and blue, truncated
  kAdCensus,          ///< pairs: colour difference plus census, each saturated: 0 .. 2
  kTransform,         ///< pairs: a rank or a census of the grey levels
  kSad,               ///< sweeps: mean absolute difference over the window and the channels, [0, 255]
  kZncc,              ///< sweeps: 1 - zero-mean normalised cross-correlation, [0, 2]; a flat window costs 1
};

/// How the costs of the source views are combined.
enum class Combination {
  kMinimum,  ///< the best source (Achten 2025)
  kMean,     ///< all sources that see the sample
  kBestK,    ///< the mean of the K best (Gallup et al. 2007: robust to occlusion)
};

inline constexpr int kMinWindow = 3;
inline constexpr int kMaxWindow = 15;
inline constexpr int kMaxBestK = 8;
inline constexpr int kMaxSources = 32;

}  // namespace recon
