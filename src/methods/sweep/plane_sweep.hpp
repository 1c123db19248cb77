#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/host_stages.hpp"
#include "methods/sweep/sweep_problem.hpp"
#include "refine/view_filter_step.hpp"
#include "scene/depth_range.hpp"
#include "scene/pinhole.hpp"

namespace recon {

class Backend;

/// Result of one view before the consistency check across views. Unknown is NaN in all maps.
struct ViewDepth {
  static constexpr std::size_t kPixelBytes = 2 * sizeof(float) + sizeof(Vec3f);

  Image<float> depth;       ///< z, scene units
  Image<Vec3f> normal;      ///< unit, camera frame, facing the camera; empty while no step needs them
  Image<float> confidence;  ///< [0, 1]
};

inline ViewDepth uninitialised_view(int width, int height) {
  return {Image<float>(width, height), Image<Vec3f>(width, height), Image<float>(width, height)};
}

/// Max relative depth step between neighbours of a patch.
inline constexpr float kSpeckleStep = 0.02f;

/// Last stage of every pipeline: invalidates what the mask ignores, filters by a median and removes speckles.
/// The result has no normals.
/// @param depth         z at pixel centres, NaN = unknown
/// @param confidence    of the same size; set to unknown where the depth is unknown
/// @param mask          of the same size, 0 = ignored; empty: no pixel is
/// @param median        3 x 3 median of the known depths
/// @param speckle_size  connected patches of fewer pixels are dropped; 0: keep all
ViewDepth finish_view(Image<float> depth, Image<float> confidence, ImageView<const std::uint8_t> mask,
                      bool median, int speckle_size);

/// The outermost floats within bounds.
std::pair<float, float> outermost_depths(const DepthRange& bounds);

/// What becomes of depths within bounds, all of which stay where the user gives none.
KeptDepths kept_depths(const DepthRange& bounds);

/// Invalidates depths outside of bounds; those that rounding has moved out return to them.
void keep_within(const DepthRange& bounds, ViewDepth& maps);

/// Filters of a sweep's depths before the consistency check across views.
struct PhotometricFilterOptions {
  float max_cost = 0.6f;         ///< unit of the cost: [0, 2] for ZNCC, grey levels for SAD
  float min_confidence = 0.05f;  ///< uniqueness, [0, 1]
  float min_texture = 1.5f;      ///< min standard deviation of the reference window, grey levels
  int speckle_size = 20;         ///< connected patches of fewer pixels are dropped; 0: keep all
  bool median = true;            ///< 3 x 3 median of the known depths
};

/// Sweeps one view with `backend` and applies the photometric filters. The result has no normals.
/// @param mask  see finish_view
ViewDepth estimate_view(Backend& backend, const SweepProblem& problem, const PhotometricFilterOptions& filter,
                        ImageView<const std::uint8_t> mask = {});

/// What estimate_view does after the sweep. @param window  of the cost, pixels
ViewDepth filter_estimate(const PosedImage& reference, int window, const PhotometricFilterOptions& filter,
                          DepthEstimate estimate, ImageView<const std::uint8_t> mask = {});

/// The number of planes between `near` and `far` for which neighbouring planes are at most one pixel apart in
/// the source that moves fastest, measured over the pixels of the reference that the source sees; at least 2,
/// at most kMaxPlanes.
int auto_plane_count(const PosedImage& reference, const std::vector<PosedImage>& sources, double near,
                     double far);

// Coarse to fine: the coarsest images are swept, and slanted patches refine the result level by level, so
// that the samples of a pixel do not depend on the depth range. Sources: M. Bleyer et al., BMVC 2011; Q. Xu,
// W. Tao, CVPR 2019.

/// Gives the halved image of a channel, whose pixels lie elsewhere.
using HalveChannel =
    std::function<ImageView<const std::uint8_t>(const ImageView<const std::uint8_t>& channel)>;
/// On the host: adds the pixels to `pixels`.
HalveChannel halved_into(std::vector<Image<std::uint8_t>>& pixels);

/// Halves the reference and the sources.
void halve_all(SweepImages& images, const HalveChannel& halve_channel);

/// Sets `coarser` of a problem with patches; returns the pixels. Without pixels, only the cameras are halved.
std::vector<Image<std::uint8_t>> halve_images(SweepProblem& problem);
/// The same where the pixels are `halve_channel`'s.
void halve_images(SweepProblem& problem, const HalveChannel& halve_channel);

/// The sweep of the coarsest level of a problem with patches.
SweepProblem coarsest_sweep(const SweepProblem& problem);
/// Its shape.
SweepShape coarsest_shape(const SweepShape& shape);

/// The inverse depths of patches: those of the planes and somewhat more, within the bounds of the problem.
InverseRange patch_range(const SweepProblem& problem);

/// A block of a view that is processed independently: paths start at the borders of `outer`, results are kept
/// for `inner`.
struct SweepBlock {
  Tile outer, inner;
};

/// Margin of a block around its results inside the view, pixels.
inline constexpr int kBlockMargin = 32;

/// Divides a view into blocks whose costs fit, with the fewest samples in total. Part of the definition
/// of the result: it depends on the size of the view and the number of planes, not on the memory of the
/// machine. Blocks are in row-major order.
/// @param width, height  1 .. kMaxImageSide
/// @param planes         1 .. kMaxPlanes
/// @param block_bytes    max bytes of a block's costs; at least one pixel with its margins must fit
std::vector<SweepBlock> sweep_blocks(int width, int height, int planes, std::size_t block_bytes);

/// The blocks of a sweep of this shape; a single one if no costs are stored. Those of CostStorage::kFloats
/// have a quarter of the samples, but at least one pixel with its margins.
std::vector<SweepBlock> blocks_of(const SweepShape& shape);

/// The largest width and height of the blocks' `outer`.
Tile largest_block(const std::vector<SweepBlock>& blocks);

/// The reference cropped to `tile`, with the principal point shifted accordingly.
PosedImage cropped(const PosedImage& image, const Tile& tile);

}  // namespace recon
