#pragma once

#include <memory>

#include "methods/stereo/device_matcher.hpp"

namespace recon::cuda {

/// Device memory of a matcher, bytes. @throws UsageError for a method of which the host computes a part
std::size_t matcher_bytes(const DeviceMatching& matching);

/// A matcher on the current device: its stages are one graph, between a kernel that reads the images and one
/// that writes the map.
/// @param matching  that matcher_bytes takes
/// @throws std::logic_error if an option is out of range; OutOfMemory, DeviceError
std::unique_ptr<DeviceMatcher> make_graph_matcher(const DeviceMatching& matching);

}  // namespace recon::cuda
