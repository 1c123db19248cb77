#pragma once

#include <cstddef>

#include "methods/stereo/pair.hpp"

namespace recon {

/// Hierarchical belief propagation on a pair; see BeliefOptions. Sources: P. Felzenszwalb and D.
/// Huttenlocher, IJCV 2006; S. Grauer-Gray and C. Kambhamettu, 2009. Runs on the threads of the surrounding
/// task arena; the same bits for any number of threads and on every processor.
/// @throws std::logic_error when `options` are out of range
DisparityMap belief_matching(const PairProblem& problem);

/// Max bytes that the call uses, including images and result.
std::size_t belief_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon
