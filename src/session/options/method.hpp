#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/stereo/pair.hpp"

namespace recon {

/// The pipelines of steps that `--method` names.
enum class Method { kPlaneSweep, kSemiGlobal, kBeliefPropagation, kBlockMatching, kPipeline };

/// planesweep, sgm, bp, bm or pipeline.
std::string method_keyword(Method method);

/// The method that a word names; nothing for another word.
std::optional<Method> find_method(const std::string& word);

/// The words of `--cost` that a method takes, in the order of the alphabet; none where there is no choice.
std::vector<std::string> cost_keywords(Method method);

/// The words of `--optimizer` that a method takes; none where there is no choice.
std::vector<std::string> optimizer_keywords(Method method);

/// @throws std::logic_error for kPlaneSweep, which works on no pair
PairMethod pair_method(Method method);

/// What is to be done with one input.
struct Job {
  Method method = Method::kPlaneSweep;
  bool pair = false;  ///< the input is a rectified pair, not a scene
};

}  // namespace recon
