#pragma once

#include <algorithm>

#include "methods/backend.hpp"

namespace recon {

/// The shape of a problem, whose images may lack their pixels.
inline SweepShape sweep_shape(const SweepProblem& problem) {
  SweepShape shape{problem};
  shape.width = problem.reference.camera.width;
  shape.height = problem.reference.camera.height;
  for (const PosedImage& source : problem.sources) {
    shape.source_width = std::max(shape.source_width, source.camera.width);
    shape.source_height = std::max(shape.source_height, source.camera.height);
  }
  shape.channels = problem.reference.channels;
  shape.sources = static_cast<int>(problem.sources.size());
  shape.planes = problem.planes.count;
  return shape;
}

}  // namespace recon
