#pragma once

#include <memory>

#include "cuda/methods/stereo/pair_stages.hpp"
#include "methods/stereo/device_matcher.hpp"

namespace recon::cuda {

/// What a matcher runs, with its device memory. @throws UsageError for a method of which the host computes a
/// part
PairMethod method_of(const DeviceMatching& matching);

/// A matcher on the current device: its stages are one graph, between a kernel that reads the images and one
/// that writes the map.
/// @param matching  that method_of takes
/// @throws std::logic_error if an option is out of range; OutOfMemory, DeviceError
std::unique_ptr<DeviceMatcher> make_graph_matcher(const DeviceMatching& matching);

}  // namespace recon::cuda
