#include "session/shared_work.hpp"

#include <spdlog/spdlog.h>

#include "core/log_file.hpp"
#include "core/system_limits.hpp"
#include "session/plan/step_clock.hpp"

namespace recon {

SharedWork begin_work(const SessionOptions& options, int threads) {
  check_device(options.device);
  SharedWork work{options, threads, options.memory_limit.value_or(available_memory()), {}, {}, false, 0};
  // Shown as soon as it is known; the log of a scene gets it from the scene.
  work.choice = std::async(std::launch::async, [&options, log = standard_error_log()] {
                  const DeviceChoice choice = choose_devices(options.device);
                  log->info("working on {}", choice.reason);
                  return choice;
                }).share();
  // A run that may have to wait measures the available memory afterwards.
  const auto launch = options.wait ? std::launch::deferred : std::launch::async;
  work.devices = std::async(launch, [choice = work.choice, threads, &options] {
                   StepClock clock;
                   const DeviceChoice& chosen = choice.get();
                   auto devices = std::make_shared<OpenDevices>();
                   devices->backends =
                       make_backends(chosen, threads, options.memory_limit.value_or(available_memory()),
                                     options.gpu_memory_limit);
                   clock.end("opening the device");
                   devices->seconds = clock.times().front().second;
                   return devices;
                 }).share();
  work.start = seconds_since_process_start();
  return work;
}

}  // namespace recon
