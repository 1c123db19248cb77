#include "methods/sweep/sweep_problem.hpp"

#include <algorithm>

namespace recon {

SweepShape sweep_shape(const SweepProblem& problem) {
  SweepShape shape{static_cast<const MethodSpec&>(problem)};
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
