#include "session/shared_work.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <numeric>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/log_file.hpp"
#include "core/system_limits.hpp"
#include "io/text_scanner.hpp"
#include "session/options/option.hpp"
#include "session/plan/step_clock.hpp"

namespace recon {

namespace {

/// The GPUs of "cuda:0,2", each once, rising; none for "auto", "cpu" and "cuda".
std::vector<int> parse_device(const std::string& device) {
  if (device == "auto" || device == "cpu" || device == "cuda") return {};
  constexpr std::string_view kPrefix = "cuda:";
  std::set<int> indices;
  bool valid = device.starts_with(kPrefix);
  for (const std::string& text : split_list(valid ? device.substr(kPrefix.size()) : "")) {
    const auto index = to_number<int>(text);
    valid &= index && *index >= 0;
    indices.insert(index.value_or(0));
  }
  if (!valid)
    throw UsageError("--device is '" + device + "'; write auto, cpu, cuda, or GPUs such as cuda:0,2");
  return {indices.begin(), indices.end()};
}

std::string names_of(const std::vector<int>& gpus, const CudaDevices& found) {
  std::string text;
  for (const int gpu : gpus)
    text += fmt::format("{}cuda:{} {}", text.empty() ? "" : ", ", gpu, found.names[gpu]);
  return text;
}

/// @param host_memory  bytes for the sweeps of the CPU
/// @param gpu_memory   bytes; empty: most of what is free
Backends make_backends(const DeviceChoice& choice, int threads, std::size_t host_memory,
                       std::optional<std::size_t> gpu_memory) {
  Backends backends;
  for (const int gpu : choice.gpus)
    backends.push_back(make_cuda_backend({.device = gpu, .memory_limit = gpu_memory, .threads = threads}));
  if (backends.empty()) backends.push_back(make_cpu_backend({threads, host_memory}));
  return backends;
}

}  // namespace

void check_device(const std::string& device) {
  parse_device(device);
}

DeviceChoice choose_devices(const std::string& device) {
  std::vector<int> gpus = parse_device(device);
  if (device == "cpu") return {{}, "the CPU, as asked"};
  const CudaDevices found = find_cuda_devices();
  const int count = static_cast<int>(found.names.size());
  if (count == 0) {
    if (device == "auto") return {{}, "the CPU, as no GPU can be used: " + found.why_none};
    throw DeviceUnavailable("--device " + device + ": no GPU can be used: " + found.why_none +
                            "; --device cpu works everywhere");
  }
  if (gpus.empty()) {
    gpus.resize(count);
    std::iota(gpus.begin(), gpus.end(), 0);
  }
  if (gpus.back() >= count)
    throw DeviceUnavailable(
        fmt::format("--device {}: there is no GPU {}; found {}, counted from 0", device, gpus.back(), count));
  return {gpus, names_of(gpus, found)};
}

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
