#pragma once

// Made from the table of options by tools/manual/typed_options.cpp.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/export.hpp"

namespace reconstruct {

/// The options of rectified pairs, for `match`, and `run` of pairs: as `Options` they have the names and
/// texts of the command line. What is empty is not given.
struct RECONSTRUCT_API PairOptions {
  enum class Method { kSgm, kBp, kBm, kPipeline };
  /// The method. For scenes: planesweep, a plane sweep. For rectified pairs and for scenes: sgm (semi-global
  /// matching), bp (belief propagation), bm (block matching) or pipeline (single stages over a stored cost
  /// volume). In a scene these rectify each view with its best neighbours and merge the depths on which the
  /// pairs agree. Default and range: scenes: planesweep; pairs: sgm; pipeline with `preset`, and for pairs
  /// with stages that only it has
  std::optional<Method> method = {};
  enum class Preset { kAdCensus };
  /// A named pipeline: ad-census (Mei et al. 2011), which is `cost` ad-census `aggregation` cross `optimizer`
  /// scanline `refine` lr,vote,interpolate,edges,subpixel,median. A stage that is given replaces the one of
  /// the preset
  std::optional<Preset> preset = {};
  /// auto (every usable GPU, else the CPU), cpu, cuda, or GPUs such as cuda:0,2. Default and range: auto
  std::optional<std::string> device = {};
  /// The output folder; with several inputs, it gets a folder for each. Default and range: dense/ in the
  /// scene or pair folder; ./dense for two image files
  std::optional<std::filesystem::path> output = {};
  /// Print the plan and do nothing: views, neighbours, depth ranges, planes, memory and predicted time.
  /// Photos are read only of a scene without sparse points, to choose sources by them, and where an earlier
  /// run has results. The times of earlier runs are kept in $XDG_CACHE_HOME/reconstruct or
  /// ~/.cache/reconstruct and improve the prediction
  std::optional<bool> dry_run = {};
  /// Do finished work again, also in a folder with files of other programs, which stay: where one has the
  /// name of a result, the run is refused. Without it, such a folder is refused, and finished work is kept.
  /// Where a run with it is stopped, the same command without it goes on: it makes again what is left of that
  std::optional<bool> overwrite = {};
  /// Wait while another reconstruct writes into the same output folder
  std::optional<bool> wait = {};
  enum class Cost { kCensus, kCensus5x5, kCensus9x7, kRank, kSymmetric, kSad, kSsd, kAd, kAdCensus };
  /// The cost. planesweep: zncc (normalised cross-correlation) or sad (absolute difference); sgm: census
  /// (5x5, of a third of the resolution where the texture is weak), census5x5, census9x7, symmetric or rank;
  /// bm: sad or ssd; pipeline: those of sgm, ad (colour difference) or ad-census (both). Default and range:
  /// planesweep: zncc; sgm: census; bm: sad; pipeline: census5x5
  std::optional<Cost> cost = {};
  /// Side of the matching window, pixels, odd; patches have at most 7. Default and range: planesweep: 5, 3 to
  /// 15; bm: 9, 3 to 31; pipeline: 9, 1 to 255 with cw, 35, 1 to 129 with aw
  std::optional<int> window = {};
  enum class Optimizer { kGraphcut, kScanline, kSgm, kWinner };
  /// What chooses among the planes or disparities: winner (the least cost of each pixel), sgm (semi-global
  /// matching), graphcut (alpha-expansion); pipeline also scanline (four paths). Default and range:
  /// planesweep, pipeline: sgm
  std::optional<Optimizer> optimizer = {};
  enum class Aggregation { kAw, kCross, kCw, kNone };
  /// Aggregation of the costs around each pixel: none, cw (constant window), aw (adaptive weights, slow) or
  /// cross (arms that end at colour edges). Default and range: planesweep, pipeline: none
  std::optional<Aggregation> aggregation = {};
  /// Colour difference (CIELab) at which adaptive weights fall to 1/e. Default and range: planesweep,
  /// pipeline: 12, 0.1 to 1000
  std::optional<double> aw_colour = {};
  /// Distance at which adaptive weights fall to 1/e, pixels. Default and range: planesweep, pipeline: 17.5,
  /// 0.1 to 1000
  std::optional<double> aw_space = {};
  /// Max length of the arms of a cross, pixels. Default and range: planesweep, pipeline: 33, 0 to 255
  std::optional<int> arm_length = {};
  /// Difference of a channel at which an arm ends, grey levels. Default and range: planesweep, pipeline: 20,
  /// 0 to 256
  std::optional<int> arm_colour = {};
  /// Number of successive aggregations over the crosses. Default and range: planesweep: 4, 0 to 64; pipeline:
  /// 2, 0 to 64
  std::optional<int> cross_iterations = {};
  /// none, or a list of steps after the optimizer, with commas between them, which run in this order:
  /// graphcut (lower the energy), lr (check both views), vote (repair what the check finds by votes of
  /// regions), interpolate (repair the rest; else it becomes unknown), edges (move edges to lower costs),
  /// subpixel, median, smooth (planes of the surfaces around). planesweep has graphcut, edges (of patches
  /// last, to where the colours have them; unknown where these cannot say), patches (sweep small images and
  /// refine slanted patches from there), smooth (patches in the planes that those around agree on) and prior
  /// (after patches, where texture is weak: planes through reliable pixels around);
  /// edges,patches,smooth,prior is its default unless planes or stages are given. Default and range:
  /// planesweep: none; pipeline: lr,subpixel,median
  std::optional<std::vector<std::string>> refine = {};
  /// Min disparity x_left - x_right, pixels; may be negative. Default and range: 0
  std::optional<int> min_disparity = {};
  /// End of the disparities, pixels: searched is min <= d < max. Default and range: ndisp of calib.txt
  std::optional<int> max_disparity = {};
  /// The calibration, in the folder of the pair or anywhere: Middlebury's calib.txt; P1 and P2 or Q of
  /// OpenCV's stereoRectify (YAML or JSON); P0 to P3 of KITTI; JSON of RealSense with intrinsics and
  /// baseline. Default and range: calib.txt, .yml, .yaml or .json, or KITTI's calib_cam_to_cam.txt in the
  /// folder of a pair
  std::optional<std::filesystem::path> calibration = {};
  /// Write depth.png too: 16 bits, 0 where unknown; a step is a millimetre, or NUMBER units of the
  /// calibration. Default and range: there is none
  std::optional<std::string> depth_png = {};
  /// A disparity for every pixel: holes get planes of the surfaces beside them
  std::optional<bool> fill = {};
  /// Side of the window of `cost` rank, pixels, odd. Default and range: sgm, pipeline: 9, 3 to 15
  std::optional<int> rank_window = {};
  /// Number of path directions, 4 or 8. Default and range: planesweep, sgm, pipeline: 8
  std::optional<int> paths = {};
  /// Penalty of a step of one disparity; of `cost` ad-census in hundredths. Default and range: planesweep: 5,
  /// 0 to 7936; sgm: 12, 0 to 7936; pipeline: of the max cost 1/4 with sgm, 1/2 with scanline, 1/6 with
  /// graphcut
  std::optional<int> p1 = {};
  /// Penalty of a larger step. Default and range: planesweep: 120, 0 to 7936; sgm: 63, 0 to 7936; pipeline:
  /// of the max cost 5/3 with sgm, 3/2 with scanline, 1/3 with graphcut
  std::optional<int> p2 = {};
  /// Difference of an edge over which `p2` falls off, grey levels; 0: it does not. Default and range:
  /// planesweep: 6, 0 to 255; sgm: 16, 0 to 255; pipeline: 16
  std::optional<int> p2_falloff = {};
  /// Min cost margin of the winner over other disparities, per cent. Default and range: sgm: 5, 0 to 99; bm:
  /// 10, 0 to 99
  std::optional<int> uniqueness = {};
  /// Max difference between the disparities of both views, pixels; sgm and bm: -1 for no check. Default and
  /// range: sgm, bm: 1, -1 to 4096; pipeline: 0, 0 to 4096
  std::optional<int> left_right = {};
  enum class Prefilter { kNone, kSobel };
  /// sobel: compare horizontal gradients, which do not depend on the brightness; none: grey levels. Default
  /// and range: bm: sobel
  std::optional<Prefilter> prefilter = {};
  /// Clipping bound of the gradients. Default and range: bm: 15, 1 to 31
  std::optional<int> prefilter_cap = {};
  /// Disparities searched per pixel: 1, 2 or 4. Default and range: bm: 1
  std::optional<int> steps = {};
  /// Number of pyramid levels; coarse ones match large disparities. Default and range: bm: 1, 1 to 8
  std::optional<int> pyramid = {};
  /// Max mean cost per pixel of a trusted disparity; 0: no limit. Default and range: bm: 0, 0 to 65025
  std::optional<double> max_mean_cost = {};
  /// Number of pyramid levels. Default and range: bp: 5, 1 to 16
  std::optional<int> levels = {};
  /// Number of iterations per level. Default and range: bp: 7, 1 to 1000
  std::optional<int> iterations = {};
  /// Weight of the grey difference. Default and range: bp: 0.1, 0.0001 to 100
  std::optional<double> data_weight = {};
  /// Truncation of the grey difference, grey levels. Default and range: bp: 15, 0 to 255
  std::optional<double> data_cap = {};
  /// Truncation of the difference between neighbours, pixels; 0: disparities / 7.5. Default and range: bp: 0,
  /// 0 to 4096
  std::optional<double> smoothness_cap = {};
  /// Gaussian blur of the images beforehand, pixels; 0: none. Default and range: bp: 0, 0 to 10
  std::optional<double> sigma = {};
  enum class Storage { kBfloat16, kFloat, kHalf };
  /// Number format of stored messages: float, half or bfloat16. Default and range: bp: half
  std::optional<Storage> storage = {};
  /// Min contrast of a window, grey levels: planesweep the standard deviation, bm the mean gradient. Default
  /// and range: planesweep: 0 with patches, else 1.5; bm: 0, 0 to 255
  std::optional<double> min_texture = {};
  /// Patches of fewer pixels are dropped; 0: keep all. Default and range: scenes: 20; pairs: 60, but 0 for
  /// pipelines that interpolate
  std::optional<int> speckle = {};
  /// Scenes: the cloud keeps the points in the box MINX,MINY,MINZ,MAXX,MAXY,MAXZ, scene units. Pairs with bm:
  /// the pixels of the left image to match, X,Y,WIDTH,HEIGHT. Default and range: all
  std::optional<std::vector<double>> roi = {};
  /// Max host memory, such as 4GiB. Default and range: what is available
  std::optional<std::uint64_t> memory_limit = {};
  /// Max GPU memory. Default and range: most of what is free
  std::optional<std::uint64_t> gpu_memory_limit = {};
  /// Max number of threads; 0: as many as there are processors. Default and range: 0, 0 to 4096
  std::optional<int> threads = {};

  /// @throws UsageError for a value that is none of its type
  operator Options() const;
};

}  // namespace reconstruct
