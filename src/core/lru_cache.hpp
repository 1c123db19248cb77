#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace recon {

/// Cache that evicts the least recently used values. Values are shared: an evicted one lives as long as it is
/// in use. Thread-safe; of two threads that miss the same key at the same time both load it, and the first
/// value is kept.
template <class Key, class Value>
class LruCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// @param budget  max sum of the sizes of the cached values
  explicit LruCache(std::size_t budget) : budget_(budget) {}

  /// Evicts what exceeds the new budget.
  void set_budget(std::size_t budget) {
    const std::lock_guard lock(mutex_);
    budget_ = budget;
    while (used_ > budget_) evict_last();
  }

  /// The value of `key`, or a null pointer.
  Pointer find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  /// Inserts a value, unless `key` has one or it is larger than the whole budget.
  /// @returns the value of the key, else `value`
  Pointer insert(const Key& key, Pointer value, std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) return found->second->value;
    if (size > budget_) return value;
    entries_.push_front({key, value, size});
    places_[key] = entries_.begin();
    used_ += size;
    while (used_ > budget_) evict_last();
    return value;
  }

  /// Forgets the value of `key`.
  void erase(const Key& key) {
    Pointer erased;  // freed when others can use the cache
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    erased = std::move(found->second->value);
    used_ -= found->second->size;
    entries_.erase(found->second);
    places_.erase(found);
  }

  /// The value of `key`, loaded if it is not cached. `load` returns a Pointer, a null pointer if there is no
  /// value; `size` returns the size of a Value.
  template <class Load, class Size>
  Pointer get(const Key& key, const Load& load, const Size& size) {
    if (Pointer value = find(key)) return value;
    Pointer value = load();
    return value ? insert(key, value, size(*value)) : value;
  }

 private:
  struct Entry {
    Key key;
    Pointer value;
    std::size_t size;
  };

  void evict_last() {
    used_ -= entries_.back().size;
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }

  std::size_t budget_;
  std::size_t used_ = 0;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< most recently used first
  std::unordered_map<Key, typename std::list<Entry>::iterator> places_;
};

}  // namespace recon
