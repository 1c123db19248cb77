#pragma once

#include <cstddef>

#include "methods/backend.hpp"
#include "session/pair/pair_input.hpp"
#include "session/scene/plan_memory.hpp"

namespace recon {

/// The memory that a pair takes: limit, peak and device_peak.
/// @param limit  of the host, bytes
/// @throws OutOfMemory when a pair cannot be matched within the limit, or within that of the device, with
/// what lowers it
MemoryPlan pair_memory(const PairPlan& plan, const Backend& backend, std::size_t limit);

}  // namespace recon
