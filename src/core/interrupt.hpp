#pragma once

namespace recon {

/// From now on Ctrl-C (SIGINT) and SIGTERM ask the work to stop: `check_interrupted` throws at its next call,
/// so that finished work is kept. A second signal ends the process at once, with 128 + its number as the exit
/// code.
void install_interrupt_handler();

/// Whether the user has asked to stop. Safe from any thread.
bool interrupted() noexcept;

/// Call between pieces of work; cheap.
/// @throws Interrupted once the user has asked to stop
void check_interrupted();

}  // namespace recon
