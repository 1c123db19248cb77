#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "methods/stereo/block/block_step.hpp"

namespace recon::cuda {

/// Kernel arguments of one level of block matching (source: J. Stam, 2008); launches throw DeviceError.
/// `left` has space for the width rounded up to a multiple of four columns. `right` holds the samples from
/// right to left: those of pixel x and hypothesis k are at steps (columns - 1 - x) + k of the row. Rows start
/// at multiples of 16 bytes.
struct DeviceBlock {
  std::uint8_t* images[2];  ///< left and right, unfiltered, rows `image_pitch` bytes apart
  std::ptrdiff_t image_pitch;
  std::uint8_t *left, *right;  ///< prefiltered
  std::ptrdiff_t left_pitch, right_pitch;
  int width, height;    ///< pixels of the level
  int columns;          ///< width rounded up to a multiple of four
  int min, hypotheses;  ///< disparity of hypothesis 0, pixels, and their number, steps_per_pixel a pixel
  Region region;        ///< that is searched
  BlockMatchingOptions options;
  BlockLimits limits;           ///< of the checks
  float* disparity;             ///< of the accepted winners, pixels; NaN elsewhere in the region
  std::uint16_t* winners;       ///< their hypotheses, for the left-right check; otherwise null
  float* map;                   ///< the result
  std::ptrdiff_t pitch;         ///< of disparity, winners and map, in elements
  std::uint64_t* claims;        ///< the least block_owner_key of each right sample, likewise
  std::ptrdiff_t claims_pitch;  ///< elements
};

/// Division of the work among warps; it does not change the result.
struct BlockTiling {
  int tile_width = 0;  ///< pixels of a row that one warp searches
  int strip_rows = 0;  ///< rows that one warp processes with rolling sums
};

/// Number of words of 2 x 16 bits per lane of a warp if the rolling kernel supports the options: 1, 2, 4 or
/// 8; 0 if the general kernel is required.
int packed_words(const BlockMatchingOptions& options, int hypotheses);

/// Bytes of scratch memory of launch_general_block_search.
std::size_t general_scratch_bytes(const DeviceBlock& block);

/// Prefilters the images into `left` and `right`.
void launch_block_prepare(const DeviceBlock& block, cudaStream_t stream);

/// Searches the region: disparity, winners, assignments of right pixels. The general one supports all
/// options.
/// @param scratch  general_scratch_bytes of memory
void launch_block_search(const DeviceBlock& block, cudaStream_t stream);
void launch_general_block_search(const DeviceBlock& block, std::uint32_t* scratch, cudaStream_t stream);

/// The checks that use neighbours, and the median: writes `map`.
void launch_block_texture(const DeviceBlock& block, cudaStream_t stream);
void launch_block_finish(const DeviceBlock& block, cudaStream_t stream);

/// The next coarser level of an image.
/// @param width, height      of `image`, pixels; see coarser_size
/// @param pitch, half_pitch  bytes from one row to the next
void launch_half_size(const std::uint8_t* image, std::ptrdiff_t pitch, int width, int height,
                      std::uint8_t* half, std::ptrdiff_t half_pitch, cudaStream_t stream);

/// Copies disparities of `coarse.map` that exceed the range of the finer level to `fine.map`.
/// @param max_disparity  of that range, pixels
void launch_join_levels(const DeviceBlock& fine, const DeviceBlock& coarse, int max_disparity,
                        cudaStream_t stream);

/// The best tiling of a level for the current device.
/// @param warps_for  number of resident warps per multiprocessor with tiles of that width; may be 0
BlockTiling chosen_tiling(const DeviceBlock& block, const std::function<int(int tile_width)>& warps_for);

}  // namespace recon::cuda
