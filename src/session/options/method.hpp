#pragma once

#include <array>
#include <string>

#include "methods/method_spec.hpp"

namespace recon {

/// The pipelines of stages that `--method` names.
enum class Method { kPlaneSweep, kSemiGlobal, kBeliefPropagation, kBlockMatching, kPipeline };

inline constexpr std::array<Method, 5> kMethods = {Method::kPlaneSweep, Method::kSemiGlobal,
                                                   Method::kBeliefPropagation, Method::kBlockMatching,
                                                   Method::kPipeline};

/// planesweep, sgm, bp, bm or pipeline.
std::string method_keyword(Method method);

/// What is to be done with one input.
struct Job {
  Method method = Method::kPlaneSweep;
  bool pair = false;  ///< the input is a rectified pair, not a scene
};

/// A method as it is where no option is given.
MethodSpec default_method(Method method);

}  // namespace recon
