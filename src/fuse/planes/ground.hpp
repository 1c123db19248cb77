#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/image.hpp"
#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/ground_relief.hpp"

namespace recon {

/// The number of levels of a ground.
inline constexpr int kGroundLevels = 121;

/// A view and the others that it is compared with.
struct GroundView {
  PlaneView reference;
  std::vector<PlaneView> sources;
};

/// The direction away from the ground, world: across the largest walls of the scene, on the side of the upper
/// edges of the images; none without walls.
/// @param planes  of the scene, the largest first
std::optional<Vec3d> up_direction(const std::vector<PlaneView>& views, const std::vector<WorldPlane>& planes);

/// A ground that is seen at so grazing an angle that windows which face the camera do not match on it:
/// parallel planes that are horizontal, and which of them the ground is at each of its places. Windows on
/// such a plane match, if it has the right height.
struct Ground {
  std::vector<WorldPlane> levels;  ///< by rising height
  GroundRelief relief;             ///< the level of each place
};

/// Searches the height below the cameras that most unknown pixels below the horizon match at, then those of
/// the single places around it, each of which its pixels in all views vote for.
/// @param depth    a typical one of the scene, > 0, scene units
/// @param at_once  views that are worked on beside each other, at most
/// @return none where no height is clearly above the others
/// Source: D. Gallup et al., Real-Time Plane-Sweeping Stereo with Multiple Sweeping Directions, CVPR 2007.
std::optional<Ground> find_ground(const std::vector<GroundView>& views, Vec3d up, double depth, int at_once);

/// Labels the pixels that have neither a depth nor a label and show the ground, where the other views allow
/// it, see PlaneAnswers.
/// @param first_label  that of the lowest level, see label_areas
void label_ground(const GroundView& view, const Ground& ground, std::uint8_t first_label,
                  ImageView<std::uint8_t> labels);

}  // namespace recon
