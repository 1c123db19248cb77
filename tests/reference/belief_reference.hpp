#pragma once

#include "methods/stereo/pair.hpp"

namespace recon::reference {

/// Hierarchical belief propagation, implemented from the paper: single thread, sequential loops, costs and
/// messages in (y, x, d) order, all memory at once, each stored number rounded to the storage's precision.
/// Shares no code with the program.
/// Source: P. Felzenszwalb and D. Huttenlocher, Efficient belief propagation for early vision, IJCV 2006.
DisparityMap belief_matching(const PairProblem& problem);

}  // namespace recon::reference
