#pragma once

#include <map>
#include <string>

#include "match/block_options.hpp"
#include "match/sweep_options.hpp"
#include "match/transform_options.hpp"
#include "methods/backend.hpp"

namespace recon {

// What the words of `--cost` mean to each method that has a choice.
inline const std::map<std::string, CostKind> kSweepCosts = {{"sad", CostKind::kSad},
                                                            {"zncc", CostKind::kZncc}};
inline const std::map<std::string, BlockCost> kBlockCosts = {{"sad", BlockCost::kSad},
                                                             {"ssd", BlockCost::kSsd}};
inline const std::map<std::string, Transform> kTransforms = {{"census5x5", Transform::kCensus5x5},
                                                             {"census9x7", Transform::kCensus9x7},
                                                             {"rank", Transform::kRank},
                                                             {"symmetric", Transform::kSymmetricCensus}};

/// What the words of `--optimizer` mean to a sweep.
inline const std::map<std::string, SweepOptimizer> kSweepOptimizers = {
    {"graphcut", SweepOptimizer::kGraphCut},
    {"sgm", SweepOptimizer::kSemiGlobal},
    {"winner", SweepOptimizer::kWinnerTakeAll}};

/// The word for a value; empty when there is none.
template <class Value>
std::string word_of(Value value, const std::map<std::string, Value>& words) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return word;
  return {};
}

}  // namespace recon
