#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// Reads the masks of all views of a scene, of the folder masks/ or as the model names them: notes their
/// hashes, and removes observations of ignored pixels from the tracks of their points. A point that loses all
/// of them is removed.
/// @returns the views whose mask cannot be used
/// @throws Interrupted
std::vector<LeftOut> read_masks(SceneInput& input, const HostLimits& host, Findings& findings);

/// Reads the photos that may have 16-bit values or transparent pixels: what is black and white in 16-bit
/// photos is set for all of them together, and transparent pixels are the mask of a view that has none yet.
/// @param left_out  views whose photos do not count
/// @throws Interrupted
void inspect_photos(SceneInput& input, const std::vector<LeftOut>& left_out, const HostLimits& host,
                    Findings& findings);

/// The mask of a view that has one, in the pixels of its photo: 0 where it is ignored.
/// @throws InputError when the file cannot be read or has another size than the photo
Image<std::uint8_t> read_mask(const View& view, const Camera& camera);

/// The mask of a view of the plan from that of its photo.
Image<std::uint8_t> undistorted_mask(const ScenePlan& plan, int view, ImageView<const std::uint8_t> mask);

/// The pixels of a view whose depths count: the mask that its preparation wrote, and of a face its side of
/// the cube. Empty for a whole photo without a mask.
/// @throws InputError when it cannot be read
Image<std::uint8_t> prepared_mask(const SceneProducts& products, int view);

}  // namespace recon
