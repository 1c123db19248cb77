#pragma once

namespace recon {

/// Installs handlers of Ctrl-C (SIGINT) and SIGTERM that request a stop: `check_interrupted` throws at its
/// next call, so that finished work is kept. A second signal ends the process immediately, with 128 + its
/// number as the exit code.
void install_interrupt_handler();

/// Whether the user has requested a stop. Safe from any thread.
bool interrupted() noexcept;

/// Call between pieces of work; cheap.
/// @throws Interrupted once the user has requested a stop
void check_interrupted();

}  // namespace recon
