#include "core/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "core/cgroup.hpp"
#include "core/error.hpp"

namespace recon {
namespace {

int processors_of_this_process() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  // More processors than a cpu_set_t can represent.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// CPU quota of one cgroup in processors; empty if it has none.
std::optional<double> cpu_quota(const Cgroup& group) {
  double quota = -1, period = 0;
  if (group.version == 2) {
    std::ifstream(group.directory / "cpu.max") >> quota >> period;  // "max 100000" sets no quota
  } else {
    std::ifstream(group.directory / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group.directory / "cpu.cfs_period_us") >> period;
  }
  if (quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

}  // namespace

int available_threads(const std::filesystem::path& root) {
  double threads = processors_of_this_process();
  for (const Cgroup& group : cgroups_of_this_process(root, "cpu"))
    if (const auto quota = cpu_quota(group)) threads = std::min(threads, std::ceil(*quota));
  return static_cast<int>(threads);
}

ThreadLimit::ThreadLimit(int threads)
    : threads_(threads == 0 ? available_threads() : threads),
      control_(oneapi::tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(std::max(1, threads_))),
      arena_(std::max(1, threads_)) {
  EXPECTS(threads >= 0);
}

}  // namespace recon
