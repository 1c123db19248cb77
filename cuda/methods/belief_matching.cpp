#include "cuda/methods/belief_matching.hpp"

#include "core/error.hpp"

namespace recon::cuda {

DisparityMap belief_matching(const PairProblem&, PairWorkspace&) {
  throw UsageError("this method is not in this version");
}

std::size_t belief_matching_bytes(int, int, const PairOptions&) {
  return 0;
}

}  // namespace recon::cuda
