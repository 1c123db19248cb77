#pragma once

#include <nlohmann/json.hpp>

#include "methods/pair.hpp"

namespace recon {

/// The method of `options` and everything that its result depends on, the range of disparities aside.
nlohmann::json matching_inputs(const PairOptions& options);

}  // namespace recon
