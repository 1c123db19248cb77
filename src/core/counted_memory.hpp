#pragma once

#include <algorithm>
#include <cstddef>

namespace recon {

/// While one exists, the arrays that its thread makes (see AlignedBuffer) have no memory, and their bytes are
/// counted instead, and its parallel loops do nothing: what an algorithm needs is counted by its own code.
/// Other work, and arrays that are made within loops, belong into `compute`.
class CountedMemory {
 public:
  /// @param threads  that would compute, >= 1
  explicit CountedMemory(int threads) : threads_(threads), outer_(current_) { current_ = this; }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;
  ~CountedMemory() { current_ = outer_; }

  /// That of the calling thread; null where arrays have memory.
  static CountedMemory* current() noexcept { return current_; }

  void take(std::size_t bytes) noexcept {
    // At most all that can be addressed: an array that is larger is refused on its own.
    taken_ = taken_ + bytes < taken_ ? static_cast<std::size_t>(-1) : taken_ + bytes;
    most_ = std::max(most_, taken_);
  }
  void give_back(std::size_t bytes) noexcept { taken_ -= std::min(taken_, bytes); }

  int threads() const { return threads_; }
  /// The most bytes that were taken at a time.
  std::size_t most() const { return most_; }

 private:
  static inline thread_local CountedMemory* current_ = nullptr;
  int threads_;
  CountedMemory* outer_;
  std::size_t taken_ = 0, most_ = 0;
};

/// Whether arrays of this thread have no memory.
inline bool memory_is_counted() noexcept {
  return CountedMemory::current() != nullptr;
}

/// Bytes that are counted as long as this exists, such as those of lists; nothing where arrays have memory.
class CountedBytes {
 public:
  explicit CountedBytes(std::size_t bytes) : bytes_(bytes) {
    if (CountedMemory* counted = CountedMemory::current()) counted->take(bytes_);
  }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;
  ~CountedBytes() {
    if (CountedMemory* counted = CountedMemory::current()) counted->give_back(bytes_);
  }

 private:
  std::size_t bytes_;
};

/// Calls `work()`, or counts what it needs beside the arrays of its caller.
/// @param bytes  bytes(threads)
template <class Bytes, class Work>
void compute(const Bytes& bytes, const Work& work) {
  const CountedMemory* counted = CountedMemory::current();
  if (counted == nullptr) return work();
  const CountedBytes taken(bytes(counted->threads()));
}

/// The most bytes that `work` takes at a time on `threads` threads, without taking them.
template <class Work>
std::size_t counted_bytes(int threads, const Work& work) {
  CountedMemory counted(threads);
  work();
  return counted.most();
}

}  // namespace recon
