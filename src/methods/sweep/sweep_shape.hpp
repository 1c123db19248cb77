#pragma once

#include <algorithm>

#include "methods/backend.hpp"

namespace recon {

/// The numbers of a sweep that its memory and its time depend on.
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
