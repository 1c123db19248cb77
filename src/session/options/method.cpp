#include "session/options/method.hpp"

#include <array>

#include "core/error.hpp"
#include "session/options/cost_keywords.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

namespace {

struct Entry {
  Method method;
  const char* word;
  std::vector<std::string> costs;
};

template <class Value>
std::vector<std::string> words_of(const std::map<std::string, Value>& meanings) {
  std::vector<std::string> words;
  for (const auto& entry : meanings) words.push_back(entry.first);
  return words;
}

/// Those of the colours, then those of the grey levels.
std::vector<std::string> pipeline_costs() {
  std::vector<std::string> words = words_of(kColourCosts);
  for (const std::string& word : words_of(kTransforms)) words.push_back(word);
  return words;
}

const std::array<Entry, 5>& entries() {
  static const std::array<Entry, 5> kEntries = {{
      {Method::kPlaneSweep, "planesweep", words_of(kSweepCosts)},
      {Method::kSemiGlobal, "sgm", words_of(kTransforms)},
      {Method::kBeliefPropagation, "bp", {}},
      {Method::kBlockMatching, "bm", words_of(kBlockCosts)},
      {Method::kPipeline, "pipeline", pipeline_costs()},
  }};
  return kEntries;
}

const Entry& entry(Method method) {
  return entries()[static_cast<std::size_t>(method)];
}

}  // namespace

std::string method_keyword(Method method) {
  return entry(method).word;
}

std::optional<Method> find_method(const std::string& word) {
  for (const Entry& it : entries())
    if (word == it.word) return it.method;
  return std::nullopt;
}

std::vector<std::string> cost_keywords(Method method) {
  return entry(method).costs;
}

std::vector<std::string> optimizer_keywords(Method method) {
  if (method == Method::kPlaneSweep) return words_of(kSweepOptimizers);
  return method == Method::kPipeline ? words_of(kPipelineOptimizers) : std::vector<std::string>();
}

PairMethod pair_method(Method method) {
  EXPECTS(method != Method::kPlaneSweep);
  if (method == Method::kSemiGlobal) return PairMethod::kSemiGlobal;
  if (method == Method::kPipeline) return PairMethod::kPipeline;
  return method == Method::kBlockMatching ? PairMethod::kBlockMatching : PairMethod::kBeliefPropagation;
}

}  // namespace recon
