#pragma once

#include <nlohmann/json.hpp>

#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

/// The method of `options` and everything that its result depends on, the range of disparities aside.
nlohmann::json matching_inputs(const PairOptions& options);

/// The stages of a sweep that work on stored costs.
nlohmann::json stage_inputs(const SweepStages& stages);

}  // namespace recon
