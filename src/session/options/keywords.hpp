#pragma once

#include <map>
#include <string>
#include <vector>

#include "match/sweep_options.hpp"
#include "match/transform_step.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

// What the keywords of options mean to each method. A pipeline has the costs of kTransforms too.
inline const std::map<std::string, CostKind> kSweepCosts = {{"sad", CostKind::kSad},
                                                            {"zncc", CostKind::kZncc}};
inline const std::map<std::string, BlockCost> kBlockCosts = {{"sad", BlockCost::kSad},
                                                             {"ssd", BlockCost::kSsd}};
inline const std::map<std::string, Transform> kTransforms = {{"census5x5", Transform::kCensus5x5},
                                                             {"census9x7", Transform::kCensus9x7},
                                                             {"rank", Transform::kRank},
                                                             {"symmetric", Transform::kSymmetricCensus}};
inline const std::map<std::string, PipelineCost> kColourCosts = {{"ad", PipelineCost::kColourDifference},
                                                                 {"ad-census", PipelineCost::kAdCensus}};
inline const std::map<std::string, Aggregation> kAggregations = {{"none", Aggregation::kNone},
                                                                 {"cw", Aggregation::kConstantWindow},
                                                                 {"aw", Aggregation::kAdaptiveWeight},
                                                                 {"cross", Aggregation::kCrossBased}};
inline const std::map<std::string, SweepOptimizer> kSweepOptimizers = {
    {"graphcut", SweepOptimizer::kGraphCut},
    {"sgm", SweepOptimizer::kSemiGlobal},
    {"winner", SweepOptimizer::kWinnerTakeAll}};
inline const std::map<std::string, PipelineOptimizer> kPipelineOptimizers = {
    {"winner", PipelineOptimizer::kWinnerTakeAll},
    {"sgm", PipelineOptimizer::kSemiGlobal},
    {"scanline", PipelineOptimizer::kScanline},
    {"graphcut", PipelineOptimizer::kGraphCut}};

/// The keyword for a value; empty when there is none.
template <class Value>
std::string word_of(Value value, const std::map<std::string, Value>& words) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return word;
  return {};
}

/// All keywords, in the order of the alphabet.
template <class Value>
std::vector<std::string> keywords_of(const std::map<std::string, Value>& values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const auto& entry : values) words.push_back(entry.first);
  return words;
}

}  // namespace recon
