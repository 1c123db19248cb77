#pragma once

namespace recon {

/// The version of the program, such as "0.1.0".
const char* version();

}  // namespace recon
