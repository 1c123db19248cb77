#include "methods/stereo/device_matcher.hpp"

#include <string>

#include "core/error.hpp"

namespace recon {

void check_device_pair(const DeviceMatching& matching, const DevicePair& pair, const std::string& of) {
  const DeviceArrays arrays{"the matcher", matching.width, matching.height};
  check_pixels(of + "left", pair.left, matching.channels, arrays);
  check_pixels(of + "right", pair.right, matching.channels, arrays);
  check_floats(of + "disparity", pair.disparity, arrays);
}

void check_runs_on_device(const PairSpec& spec) {
  const char* const advice =
      ", so images in device memory cannot be matched with it; match() of images in "
      "host memory does it";
  if (has_graph_cut(spec)) throw UsageError(std::string("graphcut is computed on the host") + advice);
  if (fused_stages(spec) == FusedStages::kBeliefs && spec.belief.smoothing_sigma > 0)
    throw UsageError(std::string("--sigma blurs the images on the host") + advice);
}

}  // namespace recon
