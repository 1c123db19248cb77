#include "methods/belief_matching.hpp"

#include "core/error.hpp"

namespace recon {

DisparityMap belief_matching(const PairProblem&) {
  throw UsageError("this method is not in this version");
}

std::size_t belief_matching_bytes(int, int, const PairOptions&, int) {
  return 0;
}

}  // namespace recon
