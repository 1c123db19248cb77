#pragma once

#include <hwy/targets.h>

/// How many instruction sets of a processor there are at least to compare: arm64 runs NEON alone, which is
/// compared with the slow versions.
inline constexpr int kLeastInstructionSets = HWY_ARCH_X86 ? 2 : 1;
