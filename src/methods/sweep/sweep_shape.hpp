#pragma once

#include <algorithm>

#include "methods/backend.hpp"

namespace recon {

/// The parameters of a sweep that determine its memory and time.
inline SweepShape sweep_shape(const SweepProblem& problem) {
  SweepShape shape;
  shape.width = problem.reference.camera.width;
  shape.height = problem.reference.camera.height;
  for (const PosedImage& source : problem.sources) {
    shape.source_width = std::max(shape.source_width, source.camera.width);
    shape.source_height = std::max(shape.source_height, source.camera.height);
  }
  shape.channels = problem.reference.channels;
  shape.sources = static_cast<int>(problem.sources.size());
  shape.planes = problem.planes.count;
  shape.window = problem.options.window;
  shape.optimizer = problem.optimizer;
  shape.paths = problem.paths;
  shape.stages = problem.stages;
  return shape;
}

}  // namespace recon
