#include "optimize/semi_global.hpp"

#include "core/error.hpp"

namespace recon {

void semi_global(const SemiGlobalProblem&, const PathWinnerSink&) {
  throw UsageError("this optimizer is not in this version");
}

std::size_t semi_global_bytes(int, int, int, const SemiGlobalOptions&, int, int) {
  return 0;
}

}  // namespace recon
