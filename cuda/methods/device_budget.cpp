#include "cuda/methods/device_budget.hpp"

#include <algorithm>
#include <utility>

namespace recon::cuda {

DeviceBudget::DeviceBudget(int streams, std::size_t bytes, Device device)
    : bytes_(bytes), device_(std::move(device)), admission_(streams, bytes) {}

DeviceBudget::Hold::Hold(DeviceBudget& budget, std::size_t bytes, bool alone)
    : budget_(budget),
      permit_(budget.admission_.admit(bytes)),
      large_(alone || permit_.streams().size() > 1) {
  if (large_) {
    for (const int stream : permit_.streams()) budget_.device_.release(stream);
    const std::lock_guard lock(budget_.mutex_);
    ++budget_.large_;
  }
  budget_.limit_images(large_ ? 0 : bytes);
}

DeviceBudget::Hold::~Hold() {
  if (!large_) return;
  budget_.device_.release(stream());
  const std::lock_guard lock(budget_.mutex_);
  --budget_.large_;
}

/// @param bytes  of the work of a stream that begins; 0: none
void DeviceBudget::limit_images(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes <= share()) max_bytes_ = std::max(max_bytes_, bytes);
  const auto streams = static_cast<std::size_t>(admission_.streams());
  const bool none = large_ > 0 || device_.now() < no_images_until_;
  device_.limit_images(none ? 0 : bytes_ - std::min(bytes_, streams * max_bytes_));
}

bool DeviceBudget::keeps_images() {
  const std::lock_guard lock(mutex_);
  return device_.now() >= no_images_until_;
}

void DeviceBudget::pause_images() {
  const std::lock_guard lock(mutex_);
  no_images_until_ = device_.now() + kPauseOfImages;
  device_.limit_images(0);
  if (!std::exchange(paused_before_, true)) device_.images_paused();
}

}  // namespace recon::cuda
