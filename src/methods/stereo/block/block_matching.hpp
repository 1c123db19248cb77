#pragma once

#include <cstddef>

#include "methods/stereo/pair.hpp"

namespace recon {

/// Block matching by rolling windows; see BlockMatchingOptions. Source: J. Stam, 2008.
/// Runs on the threads of the surrounding task arena; the same bits for any number of threads and on every
/// processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap block_matching(const PairProblem& problem);

/// Max bytes that the call uses, including images and result.
std::size_t block_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon
