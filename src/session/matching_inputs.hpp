#pragma once

#include <nlohmann/json.hpp>

#include "methods/backend.hpp"
#include "methods/pair.hpp"

namespace recon {

/// The method of `options` and everything that its result depends on, the range of disparities aside.
nlohmann::json matching_inputs(const PairOptions& options);

/// The links of a sweep that work on stored costs.
nlohmann::json link_inputs(const SweepLinks& links);

}  // namespace recon
