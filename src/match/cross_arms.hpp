#pragma once

#include "core/image.hpp"
#include "match/cross_arms_step.hpp"

namespace recon {

/// The cross of every pixel of an image; see arm_length. Arms end at the border.
/// Sources: K. Zhang, J. Lu and G. Lafruit, "Cross-based local stereo matching using orthogonal integral
/// images", TCSVT 2009, section III-A; two thresholds as in X. Mei et al. 2011. Deterministic for any number
/// of threads.
/// @throws std::logic_error where an option is out of range; OutOfMemory
Image<Cross> cross_arms(ImageView<const Rgb8> image, const CrossOptions& options);

}  // namespace recon
