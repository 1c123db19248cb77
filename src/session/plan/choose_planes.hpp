#pragma once

#include "session/options/options.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// Sets levels and planes of a view that is swept.
void choose_planes(const SessionOptions& options, int index, ScenePlan& plan);

}  // namespace recon
