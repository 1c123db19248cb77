#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/image.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon {

/// A range of pixels of a row: x = 2 (first + i) + x_parity, 0 <= i < count.
struct BeliefColumns {
  int y, x_parity;
  int first, count;
};

/// Writes the data costs of a range of pixels for disparity index d to costs[0 .. count): finite, >= 0.
/// Called concurrently, and more than once for the same pixel.
using BeliefCosts = std::function<void(const BeliefColumns& columns, int d, float* costs)>;

/// Hierarchical min-sum belief propagation over the pixel grid: the disparity index of min belief b_p of each
/// pixel, the lowest on ties,
///   b_p(d) = D_p(d) + sum over the four neighbours q of m_qp(d)
///   m_pq(d') = min over d of ( min(|d - d'|, cap) + D_p(d) + sum over the neighbours s of p, without q, of
///   m_sp(d) )
/// (up to a constant per message). The costs of a pixel of the coarser level are the sums over its 2 x 2
/// pixels; messages of the finer level are initialised from the coarser level; messages from outside the
/// image are zero. Iteration t, starting at 0 in each level, updates the pixels with x + y + t odd. Runs on
/// the threads of the surrounding task arena; the same bits for any number of threads and on every processor.
/// Costs and messages are rounded to the storage type of the options; arithmetic is in float. Half storage
/// clamps sums of costs to 65504. Source: P. Felzenszwalb and D. Huttenlocher, Efficient belief propagation
/// for early vision, IJCV 2006, sections 3 and 4; memory layout: S. Grauer-Gray and C. Kambhamettu, 2009.
/// @throws std::logic_error when shape or options are out of range, OutOfMemory
Image<std::uint16_t> propagate_beliefs(const BeliefShape& shape, const BeliefOptions& options,
                                       const BeliefCosts& costs);

}  // namespace recon
