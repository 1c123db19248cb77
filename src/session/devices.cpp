#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/message_subject.hpp"
#include "io/file/text_scanner.hpp"
#include "session/options/option_text.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

std::string gpu_names(const std::vector<int>& gpus, const CudaDevices& found) {
  std::string text;
  for (const auto& [index, name] : found.usable)
    if (std::ranges::binary_search(gpus, index))
      text += fmt::format("{}cuda:{} {}", text.empty() ? "" : ", ", index, name);
  return text;
}

}  // namespace

void DeviceNotice::know(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  reason_ = reason;
  say();
}

void DeviceNotice::permit() {
  const std::lock_guard lock(mutex_);
  permitted_ = true;
  say();
}

void DeviceNotice::say() {
  if (reason_.empty() || !permitted_ || std::exchange(said_, true)) return;
  const SubjectScope about_all(nullptr);
  log_->info("working on {}", reason_);
}

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

DeviceChoice choose_devices(const std::string& device) {
  const std::vector<int> asked = parse_device(device);
  if (device == "cpu") return {{}, "the CPU, as asked"};
  const CudaDevices found = find_cuda_devices(asked);
  if (device == "auto" && found.usable.empty()) return {{}, "the CPU: " + found.why_not};
  if (found.visible > 0 && !asked.empty() && asked.back() >= found.visible)
    throw DeviceUnavailable(fmt::format("--device {}: there is no GPU {}; found {}, counted from 0", device,
                                        asked.back(), found.visible));
  if (found.usable.empty() || found.usable.size() < asked.size())
    throw DeviceUnavailable(fmt::format("--device {}: {}: {}; --device cpu works everywhere", device,
                                        found.usable.empty() ? "no GPU can be used" : "not all can be used",
                                        found.why_not));
  std::vector<int> gpus;
  for (const CudaDevice& usable : found.usable) gpus.push_back(usable.index);
  return {gpus, gpu_names(gpus, found)};
}

std::string names_of(const Backends& backends) {
  std::string names;
  for (const auto& backend : backends) names += (names.empty() ? "" : "; ") + backend->name();
  return names;
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
