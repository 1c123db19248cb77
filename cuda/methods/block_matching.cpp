#include "cuda/methods/block_matching.hpp"

#include "core/error.hpp"

namespace recon::cuda {

DisparityMap block_matching(const PairProblem&, PairWorkspace&) {
  throw UsageError("this method is not in this version");
}

std::size_t block_matching_bytes(int, int, const PairOptions&) {
  return 0;
}

}  // namespace recon::cuda
