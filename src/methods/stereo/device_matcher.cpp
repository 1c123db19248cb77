#include "methods/stereo/device_matcher.hpp"

#include <string>

#include "core/error.hpp"

namespace recon {
namespace {

std::string pixels(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height) + " pixels";
}

/// @param pixel      bytes
/// @param alignment  of addresses, bytes
template <class Image>
void check_rows(const std::string& name, const Image& image, const DeviceMatching& matching, int pixel,
                std::size_t alignment) {
  if (image.data == nullptr) throw UsageError(name + " has no memory");
  if (image.width != matching.width || image.height != matching.height)
    throw UsageError(name + " has " + pixels(image.width, image.height) + "; the matcher is for " +
                     pixels(matching.width, matching.height));
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(image.width) * pixel;
  if (image.pitch < row)
    throw UsageError(name + " has a pitch of " + std::to_string(image.pitch) + " bytes; a row takes " +
                     std::to_string(row));
  if (reinterpret_cast<std::uintptr_t>(image.data) % alignment != 0 ||
      static_cast<std::size_t>(image.pitch) % alignment != 0)
    throw UsageError(name + " has values at addresses that are no multiples of " + std::to_string(alignment));
}

}  // namespace

void check_device_pair(const DeviceMatching& matching, const DevicePixels& left, const DevicePixels& right,
                       const DeviceFloats& disparity) {
  for (const auto& [name, image] : {std::pair{"left", &left}, {"right", &right}}) {
    if (image->channels != matching.channels)
      throw UsageError(std::string(name) + " has " + std::to_string(image->channels) +
                       " channels; the matcher is for images of " + std::to_string(matching.channels));
    check_rows(name, *image, matching, image->channels, 1);
  }
  check_rows("disparity", disparity, matching, sizeof(float), alignof(float));
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
