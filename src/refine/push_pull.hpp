#pragma once

#include "core/image.hpp"

namespace recon {

/// Fills every unknown pixel (NaN) of a map smoothly from the known ones around it: means of 2x2 cells from
/// fine to coarse, each weighted by how much of the cell is known, then from coarse to fine what a cell lacks
/// of the cells around it (Gortler, Grzeszczuk, Szeliski, Cohen, The Lumigraph, 1996, section 3.4). Known
/// pixels stay, and filled ones lie between the least and the largest of them. A map without known pixels
/// stays unknown. The same for any number of threads.
/// @throws OutOfMemory
void push_pull(ImageView<float> map);

}  // namespace recon
