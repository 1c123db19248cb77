#include "session/options/device.hpp"

#include <fmt/format.h>

#include <numeric>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "io/text_scanner.hpp"
#include "session/options/option.hpp"

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
    text += fmt::format("{}cuda:{} {}", text.empty() ? "" : ", ", gpu,
                        found.names[static_cast<std::size_t>(gpu)]);
  return text;
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
    gpus.resize(static_cast<std::size_t>(count));
    std::iota(gpus.begin(), gpus.end(), 0);
  }
  if (gpus.back() >= count)
    throw DeviceUnavailable(
        fmt::format("--device {}: there is no GPU {}; found {}, counted from 0", device, gpus.back(), count));
  return {gpus, names_of(gpus, found)};
}

Backends make_backends(const DeviceChoice& choice, int threads, std::size_t host_memory,
                       std::optional<std::size_t> gpu_memory) {
  Backends backends;
  for (const int gpu : choice.gpus)
    backends.push_back(make_cuda_backend({.device = gpu, .memory_limit = gpu_memory, .threads = threads}));
  if (backends.empty()) backends.push_back(make_cpu_backend({threads, host_memory}));
  return backends;
}

}  // namespace recon
