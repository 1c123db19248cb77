#include "reconstruct/device.hpp"

#include <algorithm>
#include <utility>

#include "api/call.hpp"
#include "core/program.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "session/session.hpp"

namespace reconstruct {

namespace {

std::shared_ptr<const detail::OpenDevice> open_device(const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > recon::kMaxThreads)
    throw UsageError("threads is " + std::to_string(options.threads) + "; it must lie between 0 and " +
                     std::to_string(recon::kMaxThreads));
  const int asked = recon::usable_threads(options.threads);
  const int threads = asked > 0 ? asked : recon::available_threads();
  const std::size_t memory = options.memory_limit.value_or(recon::available_memory());
  recon::Backends backends =
      recon::make_backends(recon::choose_devices(options.device), threads, memory, options.gpu_memory_limit);
  return std::make_shared<detail::OpenDevice>(std::move(backends), threads);
}

}  // namespace

std::string version() {
  return recon::version();
}

Device::Device(const DeviceOptions& options)
    : opened_(detail::guarded([&] { return open_device(options); })) {}

std::string Device::name() const {
  return recon::names_of(opened().backends);
}

const detail::OpenDevice& Device::opened() const {
  if (empty()) throw UsageError("the device is empty: it was moved from");
  return *opened_;
}

}  // namespace reconstruct
