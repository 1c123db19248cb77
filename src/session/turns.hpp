#pragma once

#include <cstddef>
#include <mutex>
#include <shared_mutex>

namespace recon {

/// Inputs that are worked on side by side, each with a share of threads and memory, and others that have all.
struct Turns {
  int at_once = 1;
  int threads = 1;
  std::size_t memory = 0;  ///< bytes
  std::shared_mutex side_by_side{};
};

/// The turn of one input, from its construction on. Where only one is worked on at once it is alone.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) {
    if (turns.at_once > 1)
      beside_ = std::shared_lock(turns.side_by_side);
    else
      alone_ = std::unique_lock(turns.side_by_side);
  }

  bool alone() const { return alone_.owns_lock(); }

  /// What the input may take.
  int threads() const { return alone() ? turns_.threads : turns_.threads / turns_.at_once; }
  /// Bytes of the host.
  std::size_t memory() const {
    return alone() ? turns_.memory : turns_.memory / static_cast<std::size_t>(turns_.at_once);
  }

  /// Waits for those that are side by side, unless it is alone already.
  void take_alone() {
    if (alone()) return;
    beside_.unlock();
    alone_ = std::unique_lock(turns_.side_by_side);
  }

 private:
  Turns& turns_;
  std::shared_lock<std::shared_mutex> beside_;
  std::unique_lock<std::shared_mutex> alone_;
};

}  // namespace recon
