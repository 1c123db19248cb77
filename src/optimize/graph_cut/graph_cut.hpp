#pragma once

#include <cstddef>
#include <cstdint>

#include "core/half.hpp"
#include "core/image.hpp"
#include "core/volume.hpp"
#include "optimize/graph_cut/graph_cut_options.hpp"

namespace recon {

/// What a graph cut did.
struct GraphCutResult {
  double energy_before = 0, energy_after = 0;
  int passes = 0;          ///< over all labels
  bool converged = false;  ///< the last passes found no move that lowers the energy
  std::int64_t moves = 0;  ///< expansions that lowered it
  std::int64_t rises = 0;  ///< cuts thrown away that would have raised it: 0, or the max-flow is wrong
};

/// The most labels; kNoPlane is none of them.
inline constexpr int kMaxCutLabels = 65535;

/// Lowers by alpha-expansion, from the labels given,
///   E(f) = sum_p D_p(f_p) + sum over neighbours pq of w_pq min(|f_p - f_q|, K),
/// p, q over the 4-connected grid, w_pq: edge_smoothness. An expansion of alpha lets every pixel that may
/// have it choose between its label and alpha: a minimum cut, of all minimum cuts the one that changes the
/// fewest pixels. Labels are expanded in ascending order, over and over, until none lowers E. Bands of
/// `band_rows` rows are worked on at the same time, with a row between them that stays; every second pass
/// shifts the bands by half, so that what stays in one is moved in the next. D and w are rounded to
/// 2^-21 of the greatest of D and K lambda, so that E is exact and never rises. Runs on the threads of the
/// surrounding task arena; the same labels for any number of them. Sources: Y. Boykov, O. Veksler and R.
/// Zabih, TPAMI 2001, section 5; the graph: V. Kolmogorov and R. Zabih, TPAMI 2004, section 4.
/// @param costs   D by (y, d, x), >= 0; a label of infinite cost or NaN is not allowed
/// @param guide   whose edges lower w; of the volume's size, or empty for w = lambda everywhere
/// @param labels  in and out; of the volume's size. A pixel of kNoPlane stays so; its terms are left out
/// @throws std::logic_error on sizes or options out of their range and on a label that is not allowed;
///         OutOfMemory
GraphCutResult graph_cut(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
                         const GraphCutOptions& options, ImageView<std::uint16_t> labels);
GraphCutResult graph_cut(VolumeView<const Half> costs, ImageView<const std::uint8_t> guide,
                         const GraphCutOptions& options, ImageView<std::uint16_t> labels);

/// The energy that `graph_cut` lowers.
double graph_cut_energy(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
                        const GraphCutOptions& options, ImageView<const std::uint16_t> labels);
double graph_cut_energy(VolumeView<const Half> costs, ImageView<const std::uint8_t> guide,
                        const GraphCutOptions& options, ImageView<const std::uint16_t> labels);

/// Bytes that `graph_cut` takes at most on `threads` threads, without costs, guide and labels.
std::size_t graph_cut_bytes(int width, int height, const GraphCutOptions& options, int threads);

}  // namespace recon
