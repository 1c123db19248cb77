#include "methods/sweep/device_sweeper.hpp"

#include <string>

#include "core/error.hpp"

namespace recon {

std::string name_in_sweep(std::size_t view) {
  return view == 0 ? "the reference" : "source " + std::to_string(view - 1);
}

void check_device_sweep(const DeviceSweeping& sweeping, const DeviceSweep& sweep) {
  const DeviceArrays arrays{"the sweeper", sweeping.shape.width, sweeping.shape.height};
  const auto most = static_cast<std::size_t>(sweeping.shape.sources);
  if (sweep.images.size() < 2 || sweep.images.size() > most + 1)
    throw UsageError("there are " + std::to_string(sweep.images.empty() ? 0 : sweep.images.size() - 1) +
                     " sources; the sweeper takes 1 to " + std::to_string(most));
  for (std::size_t i = 0; i < sweep.images.size(); ++i)
    check_pixels(name_in_sweep(i), sweep.images[i], sweeping.channels, arrays);
  if (sweep.mask.data != nullptr) check_pixels("the mask of the reference", sweep.mask, 1, arrays);
  check_floats("depth", sweep.depth, arrays);
  if (sweep.normal.data != nullptr) check_floats("normal", sweep.normal, arrays);
  if (sweep.confidence.data != nullptr) check_floats("confidence", sweep.confidence, arrays);
}

void check_sweeps_on_device(const MethodSpec& spec) {
  if (has_graph_cut(spec))
    throw UsageError(
        "graphcut is computed on the host, so images in device memory cannot be swept with it; sweep() of "
        "images in host memory does it");
}

}  // namespace recon
