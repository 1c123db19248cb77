#include "session/method.hpp"

#include <array>

#include "core/error.hpp"

namespace recon {

namespace {

struct Entry {
  Method method;
  const char* word;
  std::vector<std::string> costs;
};

const std::array<Entry, 4>& entries() {
  static const std::array<Entry, 4> kEntries = {{
      {Method::kPlaneSweep, "planesweep", {"sad", "zncc"}},
      {Method::kSemiGlobal, "sgm", {"census5x5", "census9x7", "rank", "symmetric"}},
      {Method::kBeliefPropagation, "bp", {}},
      {Method::kBlockMatching, "bm", {"sad", "ssd"}},
  }};
  return kEntries;
}

const Entry& entry(Method method) {
  return entries()[static_cast<std::size_t>(method)];
}

}  // namespace

std::string method_word(Method method) {
  return entry(method).word;
}

std::optional<Method> find_method(const std::string& word) {
  for (const Entry& it : entries())
    if (word == it.word) return it.method;
  return std::nullopt;
}

std::vector<std::string> cost_words(Method method) {
  return entry(method).costs;
}

PairMethod pair_method(Method method) {
  EXPECTS(method != Method::kPlaneSweep);
  if (method == Method::kSemiGlobal) return PairMethod::kSemiGlobal;
  return method == Method::kBlockMatching ? PairMethod::kBlockMatching : PairMethod::kBeliefPropagation;
}

}  // namespace recon
