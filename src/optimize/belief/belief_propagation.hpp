#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/image.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon {

/// Some pixels of a row: x = 2 (first + i) + x_parity, 0 <= i < count.
struct BeliefColumns {
  int y, x_parity;
  int first, count;
};

/// Writes the data costs of these pixels for disparity index d to costs[0 .. count): finite, >= 0. Called
/// from several threads at once, and more than once for the same pixel.
using BeliefCosts = std::function<void(const BeliefColumns& columns, int d, float* costs)>;

/// Hierarchical min-sum belief propagation over the grid of pixels: the disparity index that each pixel
/// believes in most, the lowest where several are,
///   b_p(d) = D_p(d) + sum over the four neighbours q of m_qp(d)
///   m_pq(d') = min over d of ( min(|d - d'|, cap) + D_p(d) + sum over the neighbours s of p, without q, of
///   m_sp(d) )
/// (less a constant per message). Costs of a pixel of the coarser level are the sums of those of its 2 x 2
/// pixels; the coarser level's messages are the first of the finer one's, to which nothing arrives from
/// outside. Iteration t, counted from 0 in each level, updates the pixels with x + y + t odd. Runs on the
/// threads of the surrounding task arena; the same bits for any number of them and on every processor; costs
/// and messages are rounded to the storage that the options name, arithmetic is in float. Half storage keeps
/// sums of costs at 65504 at most. Source: P. Felzenszwalb and D. Huttenlocher, Efficient belief propagation
/// for early vision, IJCV 2006, sections 3 and 4; the order in memory is that of S. Grauer-Gray and C.
/// Kambhamettu, 2009.
/// @throws std::logic_error when shape or options are out of their range, OutOfMemory
Image<std::uint16_t> propagate_beliefs(const BeliefShape& shape, const BeliefOptions& options,
                                       const BeliefCosts& costs);

/// Bytes that the call takes at most, the result included.
std::size_t propagate_beliefs_bytes(const BeliefShape& shape, const BeliefOptions& options, int threads);

}  // namespace recon
