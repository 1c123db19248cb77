#pragma once

#include <span>
#include <vector>

#include "core/hypotenuse.hpp"
#include "core/vec.hpp"

namespace recon {

/// Where a point was observed, and where its camera and its pose put it, pixels.
struct Displacement {
  Vec2d observed, projected;

  double length() const { return hypotenuse(projected.x - observed.x, projected.y - observed.y); }
};

/// The lengths, pixels, that remain of the displacements of one photo when it may be moved as a whole: by a
/// linear map of its pixels and a radial distortion about its centre, which is what a turn, a step to the
/// side, another focal length, another principal point and another lens do to it. Fitted by least squares
/// with the weights of Geman and McClure. Few displacements remain as they are. Deterministic.
std::vector<double> remaining_errors(std::span<const Displacement> displacements, Vec2d centre);

}  // namespace recon
