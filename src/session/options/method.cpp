#include "session/options/method.hpp"

#include "core/error.hpp"

namespace recon {

std::string method_keyword(Method method) {
  constexpr std::array<const char*, 5> kKeywords = {"planesweep", "sgm", "bp", "bm", "pipeline"};
  return kKeywords[static_cast<std::size_t>(method)];
}

PairMethod pair_method(Method method) {
  EXPECTS(method != Method::kPlaneSweep);
  if (method == Method::kSemiGlobal) return PairMethod::kSemiGlobal;
  if (method == Method::kPipeline) return PairMethod::kPipeline;
  return method == Method::kBlockMatching ? PairMethod::kBlockMatching : PairMethod::kBeliefPropagation;
}

}  // namespace recon
