#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "optimize/graph_cut/graph_cut_options.hpp"

namespace recon {

/// Minimises the energy of a disparity map by graph cut, see graph_cut; the labels are disparity - `min`.
/// @param costs      (y, d, x), finite
/// @param disparity  whole numbers in min .. min + planes - 1, of the volume's size; changed in place
/// @throws std::logic_error for sizes or options out of range; OutOfMemory
void cut_disparities(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
                     const GraphCutOptions& options, int min, ImageView<float> disparity);

}  // namespace recon
