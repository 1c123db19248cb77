#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "optimize/graph_cut/graph_cut.hpp"
#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of the graph cut: the volume of a plane sweep, one view of a scene against its other views,
/// grey ZNCC, mean of the best two views, lowered from its winners. Where SCENE/gt_depth/ has the exact depth
/// of the view (16-bit PNG, thousandths of a scene unit, 0: unknown), also the shares of wrong planes before
/// and after: more than one plane from the true depth, or none; of pixels whose truth lies among the planes.
struct GraphCutBenchmark {
  std::filesystem::path scene;
  int reference = 0;  ///< index of the view
  int planes = 256;
  int window = 7;
  double near = 0.30, far = 0.95;  ///< scene units
  BenchmarkDevices devices{"cpu"};
  /// Texture is weak where the grey levels of the window deviate from their mean by less (root mean square).
  double weak_texture = 4.0;
  bool plain = false;  ///< also all labels in one graph of the whole image: minutes to hours
  GraphCutOptions cut{0.1f, 4};
};

/// Seconds, processor seconds, energies and what the options came to; one run, as it takes long.
/// @throws InputError when the scene has fewer than two views or images with distortion
nlohmann::ordered_json run_graph_cut_benchmark(const GraphCutBenchmark& benchmark);

}  // namespace recon
