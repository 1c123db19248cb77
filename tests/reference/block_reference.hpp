#pragma once

#include "methods/stereo/pair.hpp"

namespace recon::reference {

/// Block matching as a pipeline of whole volumes, implemented from its definition: the cost of every pixel
/// and hypothesis, their sums over square windows, the min of each pixel, and the checks one after another.
Image<float> block_matching(const PairProblem& problem);

}  // namespace recon::reference
