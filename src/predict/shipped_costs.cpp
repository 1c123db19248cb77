#include "predict/shipped_costs.hpp"

#include <string_view>

namespace recon {
namespace {

/// Seconds of one thread, or of the GPU, for one unit of the work of a stage.
struct UnitCosts {
  std::string_view stage;  ///< what its name begins with
  double operation = 0, byte = 0;
};

constexpr UnitCosts kCpu[] = {
    {"sweep", 4.5e-9, 3e-10}, {"sgm", 1.6e-9, 0}, {"bm", 1.2e-9, 0}, {"bp", 5e-10, 4e-12}, {"", 0, 2e-9}};
constexpr UnitCosts kGpu[] = {
    {"sweep", 8e-12, 1.5e-12}, {"sgm", 0, 2e-12}, {"bm", 5e-13, 0}, {"bp", 0, 1.5e-12}, {"", 1e-12, 1e-12}};

}  // namespace

double shipped_seconds(const StageTask& task, int threads) {
  const UnitCosts* costs = threads > 0 ? kCpu : kGpu;
  while (!task.stage.starts_with(costs->stage)) ++costs;
  const double seconds =
      costs->operation * (task.work.operations + task.work.hidden) + costs->byte * task.work.bytes;
  return threads > 0 ? seconds / threads : seconds;
}

}  // namespace recon
