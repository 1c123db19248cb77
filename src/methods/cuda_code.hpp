#pragma once

#include <string>

namespace recon {

/// The GPUs that this build has code for, to be read: "CUDA 13.0, code for sm_90, PTX for compute_75", or
/// "without CUDA".
std::string cuda_code_of_build();

}  // namespace recon
