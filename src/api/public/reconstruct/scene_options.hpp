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

/// The options of scenes, for `run`, and as far as they belong to them `sweep` and `fuse`: as `Options`
/// they have the names and texts of the command line. What is empty is not given.
struct RECONSTRUCT_API SceneOptions {
  enum class Quality { kDraft, kHigh, kNormal };
  /// What resolution, sources and passes are where nothing else says it: draft halves the sides of the images
  /// and takes at most 8 sources, high takes more sources and passes. Default and range: normal
  std::optional<Quality> quality = {};
  enum class Method { kPlanesweep, kSgm, kBp, kBm, kPipeline };
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
  /// The folder of the photos, inside the scene or anywhere; the paths of a transforms.json count from it by
  /// their last components. Default and range: images/ in the scene, blended_images/ beside cams/, or the
  /// folder of transforms.json
  std::optional<std::filesystem::path> images = {};
  /// Check and fuse the depth maps of this folder, inside the scene or anywhere, instead of estimating them:
  /// files NAME.geometric.bin, NAME.photometric.bin or NAME.bin (COLMAP's arrays), NAME.pfm, NAME.npy,
  /// NAME.png (16 bits) or NAME.exr, where NAME is that of the photo, with or without its ending; beside them
  /// there may be confidences from 0 to 1, NAME.confidence.pfm, .npy or .png. They are of the undistorted
  /// images, in any resolution. Default and range: they are estimated
  std::optional<std::filesystem::path> depth_maps = {};
  /// Scene units of one unit of the maps of `depth_maps`, such as 0.001 for millimetres in a scene of metres;
  /// maps of whole numbers need it. Default and range: 1, of floating-point numbers
  std::optional<double> depth_unit = {};
  /// Only the views whose names match this shell pattern get depth maps. Default and range: *
  std::optional<std::string> views = {};
  /// The I-th of N parts of the views, with `stage` estimate. Default and range: 1/1
  std::optional<std::string> shard = {};
  enum class Stage { kAll, kEstimate, kFuse };
  /// estimate: up to the depth maps of single views; fuse: from these to the cloud; all: both. Default and
  /// range: all
  std::optional<Stage> stage = {};
  /// Print the plan and do nothing: views, neighbours, depth ranges, planes, memory and predicted time.
  /// Photos are read only of a scene without sparse points, to choose sources by them, and where an earlier
  /// run has results. The times of earlier runs are kept in $XDG_CACHE_HOME/reconstruct or
  /// ~/.cache/reconstruct and improve the prediction
  std::optional<bool> dry_run = {};
  /// Do finished work again, also in a folder with files of other programs, which stay: where one has the
  /// name of a result, the run is refused. Without it, such a folder is refused, and finished work is kept.
  /// Where a run with it is stopped, the same command without it goes on: it makes again what is left of that
  std::optional<bool> overwrite = {};
  /// Remove the maps of a view before the check across views as soon as no check needs them: about a tenth of
  /// what a scene takes on the disk. They are estimated again where other options of the check need them
  std::optional<bool> clean = {};
  /// Wait while another reconstruct writes into the same output folder
  std::optional<bool> wait = {};
  enum class Cost { kSad, kZncc, kCensus, kCensus5x5, kCensus9x7, kRank, kSymmetric, kSsd, kAd, kAdCensus };
  /// The cost. planesweep: zncc (normalised cross-correlation) or sad (absolute difference); sgm: census
  /// (5x5, of a third of the resolution where the texture is weak), census5x5, census9x7, symmetric or rank;
  /// bm: sad or ssd; pipeline: those of sgm, ad (colour difference) or ad-census (both). Default and range:
  /// planesweep: zncc; sgm: census; bm: sad; pipeline: census5x5
  std::optional<Cost> cost = {};
  /// Match red, green and blue instead of grey, with `cost` sad
  std::optional<bool> colour = {};
  /// Side of the matching window, pixels, odd; patches have at most 7. Default and range: planesweep: 5, 3 to
  /// 15; bm: 9, 3 to 31; pipeline: 9, 1 to 255 with cw, 35, 1 to 129 with aw
  std::optional<int> window = {};
  enum class Combine { kBestK, kMean, kMin };
  /// How the costs of the source views become one: min, mean, or best-k (mean of the k best). Default and
  /// range: planesweep: best-k
  std::optional<Combine> combine = {};
  /// Number of source views of best-k. Default and range: planesweep: 2, 1 to 8
  std::optional<int> best_k = {};
  enum class Optimizer { kGraphcut, kSgm, kWinner, kScanline };
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
  /// Max number of source views per reference view. Default and range: by `quality`: 8, 20 or 32 with
  /// patches, else 8, 12 or 20; from 1 to 32
  std::optional<int> sources = {};
  /// Min angle under which two views see a surface. Default and range: 1, 0 to 180
  std::optional<double> min_angle = {};
  /// Max angle under which two views see a surface. Default and range: 60, 0 to 180
  std::optional<double> max_angle = {};
  /// Longest side of the images, which are reduced to it, pixels. 0: by `quality`; normal reduces larger
  /// photos to 1600 (not with `depth_maps`), draft to half of what normal does, high none. Default and range:
  /// 0, 0 to 16384
  std::optional<int> max_image_size = {};
  /// Number of planes; auto: neighbouring planes at most a pixel apart in every source, but no more than 256.
  /// Default and range: planesweep: auto
  std::optional<int> planes = {};
  /// Min depth, scene units. Default and range: where a coarse search of each view finds surfaces
  std::optional<double> depth_min = {};
  /// Max depth, scene units. Default and range: where a coarse search of each view finds surfaces
  std::optional<double> depth_max = {};
  /// Max cost of a trusted depth. Default and range: planesweep: 0.8 with patches, else 0.6 with zncc, 15
  /// grey levels with sad
  std::optional<double> max_cost = {};
  /// Min confidence: with patches the probability that a depth is right within 1 %, else how unique the best
  /// plane is. Default and range: planesweep: 0.35 with patches, else 0.05
  std::optional<double> min_confidence = {};
  /// Min confidence of a depth where no other view has one; 0.9: those of planes of the scene; 1: none is
  /// kept. `min_views` above 1 keeps none, `min_fused_views` above 2 none in the cloud. Default and range:
  /// planesweep: 0.9, 0 to 1
  std::optional<double> min_lone_confidence = {};
  /// Min contrast of a window, grey levels: planesweep the standard deviation, bm the mean gradient. Default
  /// and range: planesweep: 0 with patches, else 1.5; bm: 0, 0 to 255
  std::optional<double> min_texture = {};
  /// Patches of fewer pixels are dropped; 0: keep all. Default and range: scenes: 20; pairs: 60, but 0 for
  /// pipelines that interpolate
  std::optional<int> speckle = {};
  /// Number of source views that have to agree on a depth. Default and range: 1, 1 to 32
  std::optional<int> min_views = {};
  /// Max relative depth difference of views that agree. Default and range: 0.01, 0.000001 to 1
  std::optional<double> max_depth_error = {};
  /// Max angle between the normals of views that agree. Default and range: planesweep: 30 with patches, more
  /// where normals are noisy; else 60
  std::optional<double> max_normal_angle = {};
  /// Holes in a surface are filled where known pixels on both sides are at most this many rows or columns
  /// away; 0: no hole is filled. Default and range: planesweep: 16, 0 to 32
  std::optional<int> max_hole = {};
  /// Planes of the scene, at most, that are found in the depths of all views; areas without texture that lie
  /// on one are filled, and so is a ground that is seen at a grazing angle; the sky is left empty; 0: none of
  /// it. Default and range: planesweep: 40, 0 to 254
  std::optional<int> scene_planes = {};
  /// Depths of a network or a sensor for areas where the photos say nothing, of some or all views, in files
  /// named as those of `depth_maps`, of the photos or their undistorted images, in any resolution and of any
  /// scale; confidences beside them (NAME.confidence.*, NAME_confidence.*, or NAME.* in a folder confidence
  /// beside DIR), from 0 to 1 or ARKit's levels, say what counts; a prior that does not follow the depths of
  /// its view is not used. Default and range: planesweep: none
  std::optional<std::filesystem::path> prior_maps = {};
  enum class PriorKind { kAuto, kDepth, kDistance, kInverse };
  /// What the values of `prior_maps` follow up to a scale and a shift: depth (along the optical axis),
  /// inverse (1 / depth, disparity), distance (from the camera); auto: depth or inverse, what fits better. 0
  /// is unknown. Default and range: planesweep: auto
  std::optional<PriorKind> prior_kind = {};
  /// Min number of views of a point of the cloud, where several views have a depth. Default and range: 2
  std::optional<int> min_fused_views = {};
  /// Distance of the points that a view gives to the cloud, pixels; 1 for the densest cloud. Default and
  /// range: 1, 1 to 8
  std::optional<int> point_spacing = {};
  /// Scenes: the cloud keeps the points in the box MINX,MINY,MINZ,MAXX,MAXY,MAXZ, scene units. Pairs with bm:
  /// the pixels of the left image to match, X,Y,WIDTH,HEIGHT. Default and range: all
  std::optional<std::vector<double>> roi = {};
  /// Subtract X,Y,Z from the coordinates of the cloud, its tiles and what is exported for splats, for
  /// programs that work in floats, such as MeshLab; fused.offset.txt and the PLY files say it. auto: round
  /// numbers near the cameras where floats would blur the points, else 0. Default and range: 0,0,0
  std::optional<std::string> offset = {};
  /// Write the cloud once more, divided by a grid over x and y into files below tiles/, named by their
  /// corners: the side of a tile in scene units, such as metres; 0: no tiles. A later run without it removes
  /// them. Default and range: 0
  std::optional<double> tile = {};
  /// Write splat/, a COLMAP model of the undistorted images with at most N points of the cloud, with colours
  /// and tracks, from which Gaussian splatting and nerfstudio begin; the points are evenly spread in space
  /// around the views, and beyond them coarser with distance, as the views see it; 0: no model. A later run
  /// without it removes that model. Default and range: 0
  std::optional<int> export_points = {};
  enum class ExportPriors { k3dgs, kLichtfeld, kNerfstudio, kNone, kNpy };
  /// Write depths, and what else the program reads, of the checked views to splat/, which guide the training
  /// of splats: 3dgs (inverse depths for gaussian-splatting), nerfstudio (depths and transforms.json),
  /// lichtfeld (depths and normals for LichtFeld Studio), npy (depths, normals and confidences as arrays of
  /// NumPy); none. A later run without it removes them. Default and range: none
  std::optional<ExportPriors> export_priors = {};
  /// Fill the holes of what `export_priors` writes smoothly from the depths around them, with a confidence of
  /// 0; for trainers that take a hole for something infinitely far
  std::optional<bool> export_filled = {};
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
