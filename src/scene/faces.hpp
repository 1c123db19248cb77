#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/camera.hpp"
#include "scene/pinhole.hpp"
#include "scene/scene.hpp"

namespace recon {

/// A pinhole view of a part of a wide photo, with the photo's centre.
struct Face {
  std::string side;       ///< of the cube: "front", "left", ...
  Mat3d face_from_photo;  ///< rotation of camera coordinates
  Pinhole camera;
  bool covered = true;  ///< the photo shows all of it
};

/// Photos that see more are wide, degrees.
inline constexpr double kWideDegrees = 110;

/// Sets the pixels of a mask to 0 that do not lie wholly on the side of the cube: what the margin of a face
/// shows is its neighbours', so that a photo has one depth, and one opinion, in each direction.
/// @param mask  of the camera's size
void ignore_margin(const Pinhole& face, Image<std::uint8_t>& mask);

/// Whether photos of a camera become faces: it is no perspective lens, and sees more than kWideDegrees along
/// the row or the column of its principal point.
bool is_wide(const Camera& camera);

/// The sides of a cube around the centre of a wide photo, each with a margin of 2 degrees beyond its edges,
/// cut to the rectangle that the photo shows. Sides of which the photo shows less than a twentieth are left
/// out. Their focal length is that of the photo at its centre; no side is longer than the photo.
std::vector<Face> faces_of(const Camera& camera);

/// The same scene with each view of a wide camera divided into its faces: views of PINHOLE cameras, named
/// NAME.side.ending, with poses of the same centre. An observation goes to the face in whose middle part it
/// lies, or is dropped where there is none; tracks follow. Views keep their order by name; faces have new
/// ids, as have their cameras. A scene without wide views stays as it is.
Scene with_faces(Scene scene);

}  // namespace recon
