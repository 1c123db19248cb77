#include "session/plan/pair_time.hpp"

#include <spdlog/spdlog.h>

#include "core/version.hpp"
#include "predict/calibration_file.hpp"
#include "predict/stage_calibration.hpp"

namespace recon {

std::optional<double> planned_matching_seconds(const PairRun& run, const PairPlan& plan,
                                               const PairMemory& memory) {
  Backend& backend = run.backend();
  const int threads = memory.device > 0 ? 0 : run.threads;
  const StageTask task = pair_task(plan.size.width, plan.size.height, plan.options, threads);
  const CalibrationKey key{backend.name(), run.threads, version()};
  PerformanceModel model = load_calibration(key);
  if (!model.knows(task.stage, task.radius)) {
    spdlog::info("calibrating the matching on {}, once on this machine", backend.name());
    if (!calibrate({}, pair_calls(backend, plan.options, threads), model)) warn_of_disturbance(key);
    save_calibration(key, model);
  }
  if (!model.knows(task.stage, task.radius)) return std::nullopt;
  const double first = threads == 0 ? model.seconds(first_call_of(task)) : 0;
  return model.seconds(task) + first;
}

}  // namespace recon
