#pragma once

#include <oneapi/tbb/task_arena.h>

#include <set>
#include <stop_token>
#include <utility>

#include "core/stop.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "reconstruct/device.hpp"
#include "session/options/options.hpp"

namespace reconstruct::detail {

struct OpenDevice {
  OpenDevice(recon::Backends opened, int thread_count)
      : backends(std::move(opened)), threads(thread_count), arena(thread_count) {}

  recon::Backends backends;  ///< at least one
  int threads;
  mutable oneapi::tbb::task_arena arena;  ///< of as many threads

  recon::Backend& front() const { return *backends.front(); }
};

/// Throws the exception that is being handled, as one of the types of <reconstruct/error.hpp> where it means
/// the same.
[[noreturn]] void rethrow_typed();

/// The body of a public function.
template <class Work>
auto guarded(const Work& work) {
  try {
    return work();
  } catch (...) {
    rethrow_typed();
  }
}

/// The body of a public function that computes on a device.
/// @throws Interrupted when the token is stopped, at the latest at the end
template <class Work>
auto on_device(const Device& device, std::stop_token stop, const Work& work) {
  return guarded([&] {
    const recon::StopScope scope(std::move(stop));
    scope.check();
    auto result = device.opened().arena.execute([&] { return work(device.opened()); });
    scope.check();
    return result;
  });
}

/// The options of a call that computes in memory, checked.
/// @param call     what messages call it, such as "match"
/// @param pair     it is for pairs, else for views
/// @param results  that options may have an effect on; empty: any
/// @throws UsageError for one that does not exist, does not belong to it, or has another value than it may
recon::SessionOptions parse_results_options(const Options& options, const char* call, bool pair,
                                            const std::set<recon::OptionResult>& results = {});

/// As the command line has them. @throws UsageError for an option that does not exist, or is empty
recon::GivenOptions given_options(const Options& options);

/// The method of a pair in memory and the disparities that it searches.
/// @throws UsageError without a max, and where method or range do not fit images of this size
recon::PairSpec pair_spec(const recon::PairJob& job, int width, int height);

/// @throws UsageError for a batch without pairs, or of images without another
void check_batch(std::size_t left, std::size_t right);

}  // namespace reconstruct::detail
