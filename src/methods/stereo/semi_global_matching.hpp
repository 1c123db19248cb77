#pragma once

#include <cstddef>

#include "methods/stereo/pair.hpp"

namespace recon {

/// Semi-global matching of a pair; see SemiGlobalPairOptions. Sources: H. Hirschmueller, TPAMI 2008; C. Banz,
/// H. Blume and P. Pirsch, 2011. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap semi_global_matching(const PairProblem& problem);

/// Max bytes that the call uses, including images and result.
std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon
