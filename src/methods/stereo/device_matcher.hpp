#pragma once

#include <vector>

#include "methods/device_memory.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

/// The pairs that a DeviceMatcher matches.
struct DeviceMatching {
  int width = 0, height = 0;  ///< pixels
  int channels = 1;           ///< of both images
  PairSpec spec = {};
  int min_patch = 0;  ///< the least patch of the result that stays, pixels
};

/// A pair of the caller and where its disparities go.
struct DevicePair {
  DevicePixels left, right;
  DeviceFloats disparity;
};

/// Checks all of a call but where its memory lies. @param of  what names begin with, such as "pair 1: "
/// @throws UsageError that names the image, what was found and what it may be
void check_device_pair(const DeviceMatching& matching, const DevicePair& pair, const std::string& of = "");

/// @throws UsageError for a method of which the host computes a part
void check_runs_on_device(const PairSpec& spec);

/// Matches pairs of one size in the memory of a GPU; the constructor takes all memory.
class DeviceMatcher : public DeviceWork {
 public:
  /// Queues the disparities of the left images, those of Backend::match without small patches, one pair after
  /// the other; of several nothing where one is refused.
  /// @param stream  a cudaStream_t of the device
  /// @throws UsageError as check_device_pair, or for memory that is not on the device; DeviceError
  virtual void match(const std::vector<DevicePair>& pairs, void* stream) = 0;
};

}  // namespace recon
