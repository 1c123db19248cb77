#pragma once

#include <cstddef>
#include <cstdint>

#include "methods/backend.hpp"
#include "session/pair/pair_input.hpp"
#include "session/scene/plan_memory.hpp"

namespace recon {

/// The memory that a pair takes: limit, peak and device_peak.
/// @param limit  of the host, bytes
/// @throws OutOfMemory when a pair cannot be matched within the limit, or within that of the device, with
/// what lowers it
MemoryPlan pair_memory(const PairPlan& plan, const Backend& backend, std::size_t limit);

/// Bytes that the results of a pair take on the disk, at most: two PFM maps, a 16-bit PNG, a preview, a mask
/// and a cloud that two views see; PNG files are hardly larger than their pixels.
std::uint64_t output_bytes(const PairPlan& plan);

}  // namespace recon
