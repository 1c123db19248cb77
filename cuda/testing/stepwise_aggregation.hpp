#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/cost_unit_step.hpp"
#include "aggregate/stepwise.hpp"
#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

struct StepwiseAggregation {
  Stepwise step;
  int radius;
  AdaptiveWeightOptions weights;
  ColourImages colours;       ///< of the adaptive weights
  CrossImages arms;           ///< of the crosses
  DeviceVolume costs, means;  ///< of the same shape; all costs finite
  CostUnit unit;              ///< of the costs, but for adaptive weights
};

std::size_t stepwise_aggregation_bytes(const StepwiseAggregation& problem);

/// Aggregation as it is first written for a GPU, with one optimisation more from step to step: the baseline
/// of the benchmark. Crosses: one iteration, along rows first.
/// @param scratch  stepwise_aggregation_bytes of memory, aligned to 256 bytes
/// @throws DeviceError
void queue_stepwise_aggregation(const StepwiseAggregation& problem, std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
