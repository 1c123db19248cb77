#pragma once

#include <optional>

#include "session/pair/pair_run.hpp"
#include "session/report/pair_report.hpp"

namespace recon {

/// Seconds that the matching of a pair will take; what the machine's calibration lacks for it is measured
/// first and kept. Nothing where it cannot be told.
std::optional<double> planned_matching_seconds(const PairRun& run, const PairPlan& plan,
                                               const PairMemory& memory);

}  // namespace recon
