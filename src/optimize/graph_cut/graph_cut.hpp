#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "core/volume.hpp"

namespace recon {

/// The label of a pixel that takes no part.
inline constexpr std::uint16_t kNoLabel = 65535;

/// Graph cut: the energy, and the search for its minimum. Costs and weights have the same unit.
struct GraphCutOptions {
  float smoothness = 20.0f;  ///< lambda, penalty of a step of one label where the image is flat; >= 0
  int smoothness_cap = 2;    ///< K >= 1, labels: truncation of the step; 1 is the Potts model
  /// Grey-level difference of two pixels that halves lambda, 0 .. 65535; 0: constant lambda.
  int edge_falloff = 16;
  /// Labels allowed at a pixel: the `best` labels of lowest cost (including ties with the last one) of pixels
  /// at most `reach` columns and rows away, and the current labels of such pixels. 0: all labels.
  int best = 6;
  int reach = 2;
  int band_rows = 128;  ///< rows per band, >= 2; 0: the whole image is one graph
  /// Max number of passes over all labels; >= 1. With these options three passes reach the energy of plain
  /// alpha-expansion within 0.03 % on Middlebury's tsukuba and within 0.15 % on a sweep of 64 planes.
  int passes = 3;
};

/// Max number of labels, excluding kNoLabel.
inline constexpr int kMaxCutLabels = 65535;

/// Minimises by alpha-expansion, starting from the given labels,
///   E(f) = sum_p D_p(f_p) + sum over neighbours pq of w_pq min(|f_p - f_q|, K),
/// p, q over the 4-connected grid, w_pq: edge_smoothness. An expansion of alpha lets every pixel where alpha
/// is allowed choose between its label and alpha: the minimum cut that changes the fewest pixels. Labels are
/// expanded in ascending order, repeatedly, until none lowers E. Bands of `band_rows` rows are processed in
/// parallel, separated by one fixed row; every second pass shifts the bands by half, so that rows fixed in
/// one pass can change in the next. D and w are rounded to 2^-21 of the maximum of D and K lambda, so that E
/// is exact and never increases. Runs on the threads of the surrounding task arena; the same labels for any
/// number of threads. Sources: Y. Boykov, O. Veksler and R. Zabih, TPAMI 2001, section 5; graph construction:
/// V. Kolmogorov and R. Zabih, TPAMI 2004, section 4.
/// @param costs   D by (y, d, x), >= 0; a label of infinite cost or NaN is not allowed
/// @param guide   image whose edges lower w; of the volume's size, or empty for constant w = lambda
/// @param labels  in and out; of the volume's size. Pixels of kNoLabel are unchanged; their terms are omitted
/// @throws std::logic_error for sizes or options out of range and for a label that is not allowed;
///         OutOfMemory
void graph_cut(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
               const GraphCutOptions& options, ImageView<std::uint16_t> labels);

}  // namespace recon
