#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace recon {

/// Keeps the values used last within a budget of bytes. Values are shared, so that one in use stays alive
/// when it is dropped here. Safe from several threads; two that miss the same key at once both load it, and
/// the first one stays.
template <class Value>
class LruCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// @param budget  bytes that the values kept may take together
  explicit LruCache(std::size_t budget) : budget_(budget) {}

  /// Drops what exceeds the new budget.
  void set_budget(std::size_t budget) {
    const std::lock_guard lock(mutex_);
    budget_ = budget;
    while (used_ > budget_) drop_last();
  }

  /// The value of `key`, or a null pointer.
  Pointer find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  /// Keeps `value`, which takes `bytes`, unless `key` has one already; returns the one that is kept. One
  /// larger than the whole budget is returned and not kept.
  Pointer put(const std::string& key, Pointer value, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) return found->second->value;
    if (bytes > budget_) return value;
    entries_.push_front({key, value, bytes});
    places_[key] = entries_.begin();
    used_ += bytes;
    while (used_ > budget_) drop_last();
    return value;
  }

  /// The value of `key`, loaded when it is not here. `load` returns a Pointer, `size` the bytes of a Value.
  template <class Load, class Size>
  Pointer get(const std::string& key, const Load& load, const Size& size) {
    if (Pointer value = find(key)) return value;
    Pointer value = load();
    const std::size_t bytes = size(*value);
    return put(key, std::move(value), bytes);
  }

 private:
  struct Entry {
    std::string key;
    Pointer value;
    std::size_t bytes;
  };

  void drop_last() {
    used_ -= entries_.back().bytes;
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }

  std::size_t budget_;
  std::size_t used_ = 0;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< the one used last comes first
  std::unordered_map<std::string, typename std::list<Entry>::iterator> places_;
};

}  // namespace recon
