#pragma once

namespace recon {

/// Local transforms of a grey image whose values are matched instead of the grey levels; all are invariant to
/// monotonic changes of brightness. Windows beyond the border repeat the border pixels.
enum class Transform {
  kRank,             ///< number of pixels of the window darker than its centre; cost: |difference|
  kCensus5x5,        ///< a bit per pixel of the window: darker than the centre? 24 bits; cost: Hamming
  kCensus9x7,        ///< 9 wide, 7 high, 62 bits
  kSymmetricCensus,  ///< 9 x 7, each pixel compared with the opposite one, 31 bits
};

inline constexpr int kMaxRankWindow = 15;

struct TransformOptions {
  Transform transform = Transform::kCensus5x5;
  int rank_window = 9;  ///< side of the rank window, odd, 3 .. kMaxRankWindow
};

/// The largest cost between two transformed pixels.
constexpr int max_transform_cost(const TransformOptions& options) {
  switch (options.transform) {
    case Transform::kRank:
      return options.rank_window * options.rank_window - 1;
    case Transform::kCensus5x5:
      return 24;
    case Transform::kCensus9x7:
      return 62;
    default:
      return 31;
  }
}

}  // namespace recon
