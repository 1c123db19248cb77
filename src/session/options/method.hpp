#pragma once

#include <array>
#include <string>

#include "methods/stereo/pair.hpp"

namespace recon {

/// The pipelines of stages that `--method` names.
enum class Method { kPlaneSweep, kSemiGlobal, kBeliefPropagation, kBlockMatching, kPipeline };

inline constexpr std::array<Method, 5> kMethods = {Method::kPlaneSweep, Method::kSemiGlobal,
                                                   Method::kBeliefPropagation, Method::kBlockMatching,
                                                   Method::kPipeline};

/// planesweep, sgm, bp, bm or pipeline.
std::string method_keyword(Method method);

/// @throws std::logic_error for kPlaneSweep, which works on no pair
PairMethod pair_method(Method method);

/// What is to be done with one input.
struct Job {
  Method method = Method::kPlaneSweep;
  bool pair = false;  ///< the input is a rectified pair, not a scene
};

}  // namespace recon
