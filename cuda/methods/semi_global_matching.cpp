#include "cuda/methods/semi_global_matching.hpp"

#include "core/error.hpp"

namespace recon::cuda {

DisparityMap semi_global_matching(const PairProblem&, PairWorkspace&) {
  throw UsageError("this method is not in this version");
}

std::size_t semi_global_matching_bytes(int, int, const PairOptions&) {
  return 0;
}

}  // namespace recon::cuda
