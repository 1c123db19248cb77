#pragma once

#include <atomic>

namespace recon {

/// Installs handlers of Ctrl-C (SIGINT) and SIGTERM that request a stop: `check_interrupted` throws at its
/// next call, so that finished work is kept. A second signal ends the process immediately, with 128 + its
/// number as the exit code.
void install_interrupt_handler();

/// Whether the user has requested a stop, or every StopScope of the process has. Safe from any thread.
bool interrupted() noexcept;

/// Call between pieces of work; cheap.
/// @throws Interrupted once the user has requested a stop
void check_interrupted();

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
