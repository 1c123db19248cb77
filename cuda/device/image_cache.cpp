#include "cuda/device/image_cache.hpp"

#include "core/error.hpp"

namespace recon::cuda {

void ImageCache::set_budget(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  budget_ = bytes;
  released_.wait(lock, [&] { return evict_for(0); });
}

/// Evicts images that are not in use until `bytes` more fit into the budget; returns whether they do.
bool ImageCache::evict_for(std::size_t bytes) {
  if (bytes > budget_) return false;
  while (bytes_ > budget_ - bytes) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      const bool in_use = entry->second.use_count() > 1;
      if (!in_use && (oldest == entries_.end() || entry->second->last_use < oldest->second->last_use))
        oldest = entry;
    }
    if (oldest == entries_.end()) return false;
    bytes_ -= oldest->second->memory.bytes();
    entries_.erase(oldest);
  }
  return true;
}

std::byte* ImageCache::acquire(const Key& key, std::size_t bytes, const Stream& stream,
                               std::vector<Use>& uses, const std::function<void(std::byte* memory)>& upload) {
  const std::lock_guard lock(mutex_);
  // While another thread waits for a smaller budget, no image is acquired, so that it does not starve.
  if (bytes_ > budget_) return nullptr;
  if (const auto found = entries_.find(key); found != entries_.end()) {
    const std::shared_ptr<Entry>& entry = found->second;
    EXPECTS(entry->memory.bytes() == bytes);
    RECON_CUDA_TRY(cudaStreamWaitEvent(stream.get(), entry->uploaded.get(), 0));
    entry->last_use = ++clock_;
    uses.push_back(entry);
    return entry->memory.data();
  }
  if (!evict_for(bytes)) return nullptr;
  std::shared_ptr<Entry> entry;
  try {
    entry = std::make_shared<Entry>(bytes);
  } catch (const OutOfMemory&) {  // other programs take memory too
    return nullptr;
  }
  upload(entry->memory.data());
  entry->uploaded.record(stream);
  entry->last_use = ++clock_;
  entries_.emplace(key, entry);
  bytes_ += bytes;
  ++uploads_;
  uses.push_back(entry);
  return entry->memory.data();
}

void ImageCache::release(std::vector<Use>& uses) {
  {
    const std::lock_guard lock(mutex_);
    uses.clear();
  }
  released_.notify_all();
}

std::size_t ImageCache::budget() const {
  const std::lock_guard lock(mutex_);
  return budget_;
}

bool ImageCache::has(const Key& key) const {
  const std::lock_guard lock(mutex_);
  return entries_.contains(key);
}

std::size_t ImageCache::uploads() const {
  const std::lock_guard lock(mutex_);
  return uploads_;
}

}  // namespace recon::cuda
