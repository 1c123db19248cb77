#include "methods/block_matching.hpp"

#include "core/error.hpp"

namespace recon {

DisparityMap block_matching(const PairProblem&) {
  throw UsageError("this method is not in this version");
}

std::size_t block_matching_bytes(int, int, const PairOptions&, int) {
  return 0;
}

}  // namespace recon
