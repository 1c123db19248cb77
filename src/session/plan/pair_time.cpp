#include "session/plan/pair_time.hpp"

#include "core/version.hpp"
#include "predict/calibration_file.hpp"
#include "predict/shipped_costs.hpp"

namespace recon {

double planned_matching_seconds(const PairRun& run, const PairPlan& plan, const PairMemory& memory) {
  const int threads = memory.device > 0 ? 0 : run.threads;
  const StageTask task = pair_task(plan.size.width, plan.size.height, plan.options, threads);
  const PerformanceModel model = load_calibration({run.backend().name(), run.threads, version()});
  return model.knows(task.stage, task.radius) ? model.seconds(task) : shipped_seconds(task, threads);
}

}  // namespace recon
