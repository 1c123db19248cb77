#pragma once

#include <atomic>

namespace recon {

/// Points where a test can inject a failure.
enum class FaultPoint {
  kWork,        ///< between pieces of work: in `check_interrupted`
  kFileCreate,  ///< before a file is created
  kFileWrite,   ///< before buffered bytes of a file are written
  kFileCommit,  ///< before a complete file is renamed to its final name
};

/// Called at each fault point, from any thread; throws the injected failure.
using FaultHandler = void (*)(FaultPoint);

namespace detail {
inline std::atomic<FaultHandler> fault_handler{nullptr};
}  // namespace detail

/// Tests only: installs the handler called at each fault point; nullptr removes it. Call it while no work is
/// running.
inline void set_fault_handler(FaultHandler handler) noexcept {
  detail::fault_handler.store(handler, std::memory_order_relaxed);
}

/// Marks a point where work can fail. Without a handler it does nothing.
inline void fault_point(FaultPoint point) {
  if (const FaultHandler handler = detail::fault_handler.load(std::memory_order_relaxed)) handler(point);
}

}  // namespace recon
