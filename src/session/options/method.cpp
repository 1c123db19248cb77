#include "session/options/method.hpp"

#include "methods/presets.hpp"

namespace recon {

std::string method_keyword(Method method) {
  constexpr std::array<const char*, 5> kKeywords = {"planesweep", "sgm", "bp", "bm", "pipeline"};
  return kKeywords[static_cast<std::size_t>(method)];
}

MethodSpec default_method(Method method) {
  switch (method) {
    case Method::kPlaneSweep:
      return presets::plane_sweep();
    case Method::kSemiGlobal:
      return presets::semi_global();
    case Method::kBeliefPropagation:
      return presets::belief_propagation();
    case Method::kBlockMatching:
      return presets::block_matching();
    case Method::kPipeline:
      return presets::pipeline();
  }
  return {};
}

}  // namespace recon
