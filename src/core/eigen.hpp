#pragma once

/// Eigen without contraction to FMA, which it has of its own on arm64: results must not depend on the
/// processor.
#if defined(__ARM_FEATURE_FMA)
#include <arm_neon.h>  // Clang declares some functions only with the macro
#pragma push_macro("__ARM_FEATURE_FMA")
#undef __ARM_FEATURE_FMA
#include <Eigen/Dense>
#pragma pop_macro("__ARM_FEATURE_FMA")
#else
#include <Eigen/Dense>
#endif
