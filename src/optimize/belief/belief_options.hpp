#pragma once

namespace recon {

/// How messages and data costs are stored; all arithmetic is in float.
enum class BeliefStorage { kFloat, kHalf, kBfloat16 };

/// Hierarchical loopy belief propagation; the defaults are those of Felzenszwalb and Huttenlocher and of
/// Grauer-Gray.
struct BeliefOptions {
  int levels = 5;                ///< of the pyramid of data costs, >= 1
  int iterations = 7;            ///< per level, >= 1
  float data_weight = 0.1f;      ///< lambda
  float data_cap = 15.0f;        ///< truncation of the grey difference, grey levels
  float smoothness_cap = 0.0f;   ///< truncation of the disparity difference, pixels; 0: disparities / 7.5
  float smoothing_sigma = 0.0f;  ///< Gaussian blur of both images beforehand, pixels; 0: none
  BeliefStorage storage = BeliefStorage::kHalf;
};

}  // namespace recon
