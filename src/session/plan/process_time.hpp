#pragma once

namespace recon {

/// Seconds since the system started this process, to a hundredth; 0 where that is unknown.
double seconds_since_process_start();

}  // namespace recon
