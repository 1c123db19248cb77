#pragma once

#include "session/pair/pair_run.hpp"
#include "session/report/pair_report.hpp"

namespace recon {

/// The predicted seconds of a pair's matching: by the calibration of this machine where it has the stage,
/// else by shipped figures.
double planned_matching_seconds(const PairRun& run, const PairPlan& plan, const PairMemory& memory);

}  // namespace recon
