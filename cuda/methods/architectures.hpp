#pragma once

#include <string>
#include <string_view>

namespace recon::cuda {

/// Of a GPU, such as 8.9.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

/// What a build has for a GPU.
enum class CodeFor {
  kNone,     ///< nothing that runs on it
  kPtx,      ///< PTX, which the driver compiles at first use
  kMachine,  ///< code that it runs as it is
};

/// @param built  the code of a build, words such as "sm_90" (machine code) and "compute_75" (PTX). Machine
/// code
///   runs on GPUs of its major number with its minor number or a later one, PTX on its GPU and all later
///   ones; with the suffix `a` only on that one, with `f` on those of its major number
CodeFor code_for(std::string_view built, ComputeCapability gpu);

/// The same words to be read: "code for sm_80, sm_90, PTX for compute_75".
std::string described_code(std::string_view built);

}  // namespace recon::cuda
