#include "methods/semi_global_matching.hpp"

#include "core/error.hpp"

namespace recon {

DisparityMap semi_global_matching(const PairProblem&) {
  throw UsageError("this method is not in this version");
}

std::size_t semi_global_matching_bytes(int, int, const PairOptions&, int) {
  return 0;
}

}  // namespace recon
