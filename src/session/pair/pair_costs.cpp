#include "session/pair/pair_costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "session/options/option_text.hpp"
#include "session/pair/pair_check.hpp"
#include "session/products/host_memory.hpp"
#include "session/scene/plan_time.hpp"

namespace recon {

namespace {

// Bytes a pixel that are alive at the same time in `match`: the decoder's image and its rows, both images in
// both depths.
constexpr std::size_t kReadBytes = 24;
// Of both images in colour, while they are read and from then on.
constexpr std::size_t kColourBytes = 6;
// Points of the report and their text, each.
constexpr std::size_t kViewedPointBytes = 160;
// Disparity and mask, and what is largest of: the speckle filter's list (25, it grows by doubling), the
// encoder of a preview (13), depth with normals and the decoded left image (28), the filling of holes with
// its maps (28) and the images (12).
constexpr std::size_t kPreviewBytes = 45;

}  // namespace

MemoryPlan pair_memory(const PairPlan& plan, const Backend& backend, std::size_t limit) {
  const std::string remedy =
      "; narrow --min-disparity and --max-disparity, give smaller images, or raise the limit "
      "(--memory-limit, --gpu-memory-limit)";
  WorkMemory work, orders;
  try {
    work = backend.pair_memory(plan.size.width, plan.size.height, plan.options);
    orders = compare_orders_memory(backend, plan.size.width, plan.size.height, plan.options.range);
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(plan.name() + ": " + error.what() + remedy);
  }
  const std::size_t pixels = pixels_of(plan.size), file = static_cast<std::size_t>(plan.file_bytes);
  MemoryPlan memory;
  memory.limit = limit;
  memory.device_peak = std::max(work.device_bytes, orders.device_bytes);
  const std::size_t colour = !fused_stages(plan.options) ? kColourBytes * pixels : 0;
  memory.peak =
      kProgramBytes + std::max({kReadBytes * pixels + colour + file, 6 * pixels + work.host_bytes,
                                10 * pixels + colour + orders.host_bytes, kPreviewBytes * pixels + file,
                                kViewedPointBytes * std::min(pixels, kMaxViewedPoints)});
  if (memory.peak > limit)
    throw OutOfMemory(fmt::format("{}: matching takes up to {}, the limit is {}{}", plan.name(),
                                  format_byte_size(memory.peak), format_byte_size(limit), remedy));
  return memory;
}

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
