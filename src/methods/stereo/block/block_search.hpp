#pragma once

#include <cstddef>
#include <cstdint>

#include "core/aligned_buffer.hpp"
#include "core/image.hpp"
#include "methods/stereo/block/block_plan.hpp"

namespace recon {

/// Input of the search: a prepared pair.
struct BlockSearch {
  ImageView<const std::uint8_t> left;  ///< prefiltered pixels
  /// Prefiltered samples of the right image from right to left: the sample of pixel x and hypothesis k is at
  /// steps (W - 1 - x) + k of the row, for k < level.hypotheses + kBlockLanes.
  ImageView<const std::uint8_t> right;
  const BlockLevel& level;
  const BlockMatchingOptions& options;
};

/// Rows of costs are padded to a multiple of this number.
inline constexpr int kBlockLanes = 64;

/// Working memory of the search of a strip of rows.
class BlockScratch {
 public:
  explicit BlockScratch(const BlockSearch& search);
  static std::size_t bytes(const BlockSearch& search);

  AlignedBuffer<std::byte> columns;  ///< column sums, a row of hypotheses for each column
  AlignedBuffer<std::byte> sums;     ///< window sums of the current pixel
  AlignedBuffer<std::uint32_t> costs;
  AlignedBuffer<std::uint16_t> winners;
  AlignedBuffer<std::uint64_t> owners;
};

/// Writes the disparity of rows [row_begin, row_end) of the region, NaN where it is unreliable; see
/// BlockMatchingOptions. Column sums roll down the rows and window sums along them, for all hypotheses of a
/// pixel at a time; only a row of column sums is stored.
void search_block_rows(const BlockSearch& search, int row_begin, int row_end, BlockScratch& scratch,
                       ImageView<float> disparity);

/// Row y, 0 <= y < height, of `sobel_response`.
void prefilter_row(ImageView<const std::uint8_t> image, int y, int cap, std::uint8_t* out);

}  // namespace recon
