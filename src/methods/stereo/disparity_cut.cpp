#include "methods/stereo/disparity_cut.hpp"

#include "core/parallel.hpp"
#include "optimize/graph_cut/graph_cut.hpp"

namespace recon {

void cut_disparities(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
                     const GraphCutOptions& options, int min, ImageView<float> disparity) {
  const int width = disparity.width, height = disparity.height;
  Image<std::uint16_t> labels(width, height);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x)
      labels(x, y) = static_cast<std::uint16_t>(static_cast<int>(disparity(x, y)) - min);
  });
  graph_cut(costs, guide, options, labels.view());
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) disparity(x, y) = static_cast<float>(min + labels(x, y));
  });
}

}  // namespace recon
