#include "session/pair/pair_time.hpp"

#include "session/scene/plan_time.hpp"

namespace recon {

PairTime::PairTime(const PairPlan& plan, const Backends& backends, int threads)
    : key_(calibration_key(backends, threads)), model_(load_calibration(key_)) {
  const int stage_threads = backends.front()->is_gpu() ? 0 : threads;
  const StageTask task = pair_task(plan.size.width, plan.size.height, plan.options, stage_threads);
  step_ = "matching of a pair: " + task.stage + (model_.knows(task) ? ", calibrated" : "");
  predicted_ = predicted_seconds(model_, task, stage_threads);
}

void PairTime::learn(double seconds) {
  constexpr double kMinSeconds = 0.1;
  if (seconds < kMinSeconds || !(predicted_ > 0)) return;
  model_.learn(step_, seconds, predicted_);
  save_calibration(key_, model_);
}

}  // namespace recon
