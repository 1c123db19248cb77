#include "session/options/method.hpp"

#include "methods/presets.hpp"

namespace recon {

namespace {

struct NamedMethod {
  const char* keyword;
  MethodSpec (*spec)();
};

/// In the order of Method.
constexpr NamedMethod kNamed[] = {{"planesweep", presets::plane_sweep},
                                  {"sgm", presets::semi_global},
                                  {"bp", presets::belief_propagation},
                                  {"bm", presets::block_matching},
                                  {"pipeline", presets::pipeline}};

}  // namespace

std::string method_keyword(Method method) {
  return kNamed[static_cast<std::size_t>(method)].keyword;
}

MethodSpec default_method(Method method) {
  return kNamed[static_cast<std::size_t>(method)].spec();
}

}  // namespace recon
