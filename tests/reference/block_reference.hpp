#pragma once

#include "methods/stereo/pair.hpp"

namespace recon::reference {

/// Block matching as a pipeline of whole volumes, written down from its definition: the cost of every pixel
/// and hypothesis, sums of them over square windows, the least of each pixel, and the checks one after
/// another.
Image<float> block_matching(const PairProblem& problem);

}  // namespace recon::reference
