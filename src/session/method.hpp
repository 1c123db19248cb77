#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/pair.hpp"

namespace recon {

/// The chains of steps that `--method` names.
enum class Method { kPlaneSweep, kSemiGlobal, kBeliefPropagation, kBlockMatching, kChain };

/// planesweep, sgm, bp, bm or chain.
std::string method_word(Method method);

/// The method that a word names; nothing for another word.
std::optional<Method> find_method(const std::string& word);

/// The words of `--cost` that a method takes, in the order of the alphabet; none where there is no choice.
std::vector<std::string> cost_words(Method method);

/// The words of `--optimizer` that a method takes; none where there is no choice.
std::vector<std::string> optimizer_words(Method method);

/// @throws std::logic_error for kPlaneSweep, which works on no pair
PairMethod pair_method(Method method);

/// What is to be done with one input.
struct Job {
  Method method = Method::kPlaneSweep;
  bool pair = false;  ///< the input is a rectified pair, not a scene
};

}  // namespace recon
