#pragma once

namespace recon {

/// The version of the program, such as "0.1.0".
const char* version();

/// Finished work of an earlier run is kept where this number is the same. Raise it with every change of the
/// results, that is of tests/pinned/outputs.sha256, and of what a record with the same text means.
inline constexpr int kResultsVersion = 18;

}  // namespace recon
