#pragma once

namespace recon {

/// The version of the program, from the build.
inline constexpr const char* kVersion = RECON_VERSION;

}  // namespace recon
