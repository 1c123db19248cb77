#pragma once

#include <atomic>

namespace recon {

/// Where a test can let a run fail.
enum class FaultPoint {
  kWork,        ///< between pieces of work: in `check_interrupted`
  kFileCreate,  ///< before a file is created
  kFileWrite,   ///< before collected bytes of a file are written
  kFileCommit,  ///< before a complete file gets its name
};

/// Called at each fault point, from any thread; what it throws is the fault.
using FaultHandler = void (*)(FaultPoint);

namespace detail {
inline std::atomic<FaultHandler> fault_handler{nullptr};
}  // namespace detail

/// Tests only: has `handler` called at each fault point from now on; nullptr: nothing. Install it while no
/// work goes on.
inline void set_fault_handler(FaultHandler handler) noexcept {
  detail::fault_handler.store(handler, std::memory_order_relaxed);
}

/// Marks a place where work can fail. Without a handler it does nothing.
inline void fault_point(FaultPoint point) {
  if (const FaultHandler handler = detail::fault_handler.load(std::memory_order_relaxed)) handler(point);
}

}  // namespace recon
