#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/testing/cuda_pairs.hpp"
#include "match/ad_census.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/scanline/scanline.hpp"
#include "refine/outliers.hpp"

/// Pipelines of single stages on a GPU, whole and by parts, for tests and the benchmark: no CUDA type appears
/// here. A build without CUDA has what the benchmark calls, which then throws DeviceUnavailable. What is in
/// the device's memory before is `poison` in every byte.

namespace recon::cuda {

/// As recon::colour_difference_costs or ad_census_costs, as `options` name them.
Volume<float> run_colour_costs(const ColourPair& pair, PairSide side, const DisparityRange& range,
                               const MethodSpec& options, std::uint8_t poison, int device = 0);

/// As recon::PipelineCosts::fill for kTransform, over images of 8 bits.
Volume<float> run_transform_costs(const GreyPair& pair, PairSide side, const DisparityRange& range,
                                  const MethodSpec& options, std::uint8_t poison, int device = 0);

/// As recon::optimize_scanlines; another view has the size of the reference.
Volume<float> run_scanlines(VolumeView<const float> costs, ImageView<const Rgb8> reference,
                            const ScanlineView& other, const ScanlineOptions& options, std::uint8_t poison,
                            int device = 0);

/// The disparities of least cost.
Image<float> run_min_cost(VolumeView<const float> costs, int min_disparity, std::uint8_t poison,
                          int device = 0);

/// A left map and what its outliers are found and repaired by; images of one size.
struct RepairProblem {
  ImageView<const float> left, right;
  ImageView<const Outlier> outliers;  ///< where `check` does not find them
  ImageView<const Cross> crosses;
  ImageView<const Rgb8> colours;
  DisparityRange range;
};
/// The steps of refine/outliers.hpp and refine/surfaces.hpp, in this order.
struct RepairSteps {
  bool check = false;
  float tolerance = 0.0f;
  int min_surface = 0;  ///< 0: neither surfaces are distrusted nor extended
  bool extend = false;  ///< needs min_surface > 0
  int votes = 0;        ///< iterations
  VotingOptions voting = {};
  bool interpolate = false;
};
struct RepairedMap {
  Image<float> disparity;
  Image<Outlier> outliers;
};
RepairedMap run_repair(const RepairProblem& problem, const RepairSteps& steps, std::uint8_t poison,
                       int device = 0);

/// adjust_discontinuities, enhance_subpixel and median_3x3, those that are asked for, in this order.
struct MapSteps {
  bool adjust = false, enhance = false, median = false;
};
Image<float> run_map_steps(ImageView<const float> disparity, VolumeView<const float> costs, int min,
                           const MapSteps& steps, std::uint8_t poison, int device = 0);

/// Milliseconds by events, from images on the device to disparities on the device; of pipelines without a
/// graph cut.
struct PipelineTimes {
  TimeSpread whole;  ///< one graph
  struct Step {
    std::string name;
    TimeSpread time;  ///< of both views, within such a graph
  };
  std::vector<Step> steps;
  TimeSpread call;  ///< from and to host memory, by the host's clock
  std::size_t device_bytes = 0;
};
PipelineTimes time_pipeline(const PairProblem& problem, int repeats, int device = 0);

}  // namespace recon::cuda
