#include "session/options/device.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

#include "core/error.hpp"

namespace recon {

namespace {

/// The GPUs of "cuda:0,2", each once, rising; none for "auto", "cpu" and "cuda".
std::vector<int> parse_device(const std::string& device) {
  if (device == "auto" || device == "cpu" || device == "cuda") return {};
  if (!device.starts_with("cuda:"))
    throw UsageError("--device is '" + device + "'; write auto, cpu, cuda, or GPUs such as cuda:0,2");
  std::vector<int> indices;
  std::string_view rest = std::string_view(device).substr(std::string_view("cuda:").size());
  while (true) {
    int index = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (error != std::errc() || index < 0 || (!rest.empty() && rest.front() != ','))
      throw UsageError("--device is '" + device + "'; write auto, cpu, cuda, or GPUs such as cuda:0,2");
    indices.push_back(index);
    if (rest.empty()) break;
    rest.remove_prefix(1);
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

std::string list_of(const std::vector<int>& gpus, const CudaDevices& found) {
  std::string text;
  for (const int gpu : gpus)
    text += (text.empty() ? "" : ", ") + ("cuda:" + std::to_string(gpu)) + " " +
            found.names[static_cast<std::size_t>(gpu)];
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
    throw DeviceUnavailable("--device " + device + ": there is no GPU " + std::to_string(gpus.back()) +
                            "; found " + std::to_string(count) + ", counted from 0");
  return {gpus, list_of(gpus, found)};
}

std::vector<std::unique_ptr<Backend>> make_backends(const DeviceChoice& choice, const BackendLimits& limits) {
  std::vector<std::unique_ptr<Backend>> backends;
  for (const int gpu : choice.gpus) {
    CudaOptions options;
    options.device = gpu;
    options.memory_limit = limits.gpu_memory;
    options.threads = limits.threads;
    backends.push_back(make_cuda_backend(options));
  }
  if (backends.empty()) backends.push_back(make_cpu_backend({limits.threads, limits.sweep_memory}));
  return backends;
}

}  // namespace recon
