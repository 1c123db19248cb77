#pragma once

namespace recon {

/// Photo-consistency cost between a reference window and a warped source window.
enum class CostKind {
  kSad,   ///< mean absolute difference over the window and the channels, grey levels, [0, 255]
  kZncc,  ///< 1 - zero-mean normalised cross-correlation of the grey window, [0, 2]; a flat window costs 1
};

/// How the costs of the source views are combined.
enum class Combination {
  kMinimum,  ///< the best source (Achten 2025)
  kMean,     ///< all sources that see the sample
  kBestK,    ///< the mean of the K best (Gallup et al. 2007: robust to occlusion)
};

/// Upper bound of the cost.
constexpr float max_cost(CostKind kind) {
  return kind == CostKind::kZncc ? 2.0f : 255.0f;
}

inline constexpr int kMinWindow = 3;
inline constexpr int kMaxWindow = 15;
inline constexpr int kMaxBestK = 8;
inline constexpr int kMaxSources = 32;

struct SweepOptions {
  CostKind cost = CostKind::kZncc;
  int window = 5;  ///< side of the square window, odd, kMinWindow..kMaxWindow
  Combination combination = Combination::kBestK;
  int best_k = 2;  ///< 1..kMaxBestK; fewer when fewer sources see the sample
};

}  // namespace recon
