#include "cuda/methods/stereo/block_stream.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"

namespace recon::cuda {
namespace {

/// Bytes that the search reads beyond the end of left rows, and before the start of right rows.
constexpr int kReadAhead = 16;

std::ptrdiff_t rounded(std::ptrdiff_t bytes) {
  return padded_count<std::uint8_t>(1) * ((bytes + 63) / 64);
}

DeviceBlock shape_of(const BlockLevel& level, const BlockMatchingOptions& options) {
  DeviceBlock b{};
  b.width = level.width;
  b.height = level.height;
  b.columns = (level.width + 3) / 4 * 4;
  b.min = level.searched.min;
  b.hypotheses = level.hypotheses;
  b.region = level.region;
  b.options = options;
  b.limits = level.limits;
  b.image_pitch = rounded(b.columns);
  b.left_pitch = rounded(b.columns + kReadAhead);
  // The lanes of a warp read all their hypotheses, searched or not, and one more word.
  const int read = std::max(64 * packed_words(options, b.hypotheses), b.hypotheses);
  b.right_pitch = rounded(std::ptrdiff_t{options.steps_per_pixel} * b.columns + read + 16);
  b.pitch = rounded(b.width);
  b.claims_pitch = std::ptrdiff_t{options.steps_per_pixel} * (b.width - 1) + 1;
  return b;
}

/// Allocates each level by `take(count, pointer)`; returns the max scratch size of the general kernel over
/// all levels.
template <class Take>
std::size_t lay_out(std::vector<DeviceBlock>& levels, const Take& take) {
  std::size_t scratch = 0;
  for (DeviceBlock& b : levels) {
    const std::ptrdiff_t height = b.height;
    take(element_count({2 * b.image_pitch, height}), b.left_image);
    take(element_count({b.left_pitch, height}), b.left);
    take(element_count({b.right_pitch, height}) + kReadAhead, b.right);
    take(element_count({b.pitch, height}), b.disparity);
    take(element_count({b.pitch, height}), b.map);
    if (b.options.left_right >= 0) {
      take(element_count({b.pitch, height}), b.winners);
      take(element_count({b.claims_pitch, height}), b.claims);
    }
    b.right_image = b.left_image + height * b.image_pitch;
    b.right += kReadAhead;
    if (packed_words(b.options, b.hypotheses) == 0) scratch = std::max(scratch, general_scratch_bytes(b));
  }
  return scratch;
}

std::vector<DeviceBlock> shapes_of(const std::vector<BlockLevel>& plan, const BlockMatchingOptions& options) {
  std::vector<DeviceBlock> levels;
  for (const BlockLevel& level : plan) levels.push_back(shape_of(level, options));
  return levels;
}

std::size_t bytes_of(std::vector<DeviceBlock> levels) {
  std::size_t bytes = 0;
  const auto count = [&](std::size_t elements, auto*& pointer) {
    pointer = nullptr;
    bytes += arena_bytes(elements * sizeof *pointer);
  };
  const std::size_t scratch = lay_out(levels, count);
  return bytes + arena_bytes(scratch);
}

void make_room(PinnedBuffer& staging, std::size_t bytes) {
  if (staging.bytes() >= bytes) return;
  staging = PinnedBuffer();
  staging = PinnedBuffer(bytes);
}

}  // namespace

BlockStream::BlockStream(int width, int height, const PairOptions& options, Arena& arena)
    : plan_(plan_block_levels(width, height, options.range, options.block)),
      levels_(shapes_of(plan_, options.block)) {
  arena.reset(bytes_of(levels_));
  const std::size_t scratch = lay_out(levels_, [&](std::size_t elements, auto*& pointer) {
    using Element = std::remove_const_t<std::remove_reference_t<decltype(*pointer)>>;
    pointer = arena.take<Element>(elements);
  });
  scratch_ = arena.take<std::uint32_t>(scratch / sizeof(std::uint32_t));
}

std::size_t BlockStream::bytes(int width, int height, const PairOptions& options) {
  return bytes_of(shapes_of(plan_block_levels(width, height, options.range, options.block), options.block));
}

void BlockStream::upload(const GreyPair& images, PinnedBuffer& staging, const Stream& stream) const {
  const DeviceBlock& b = levels_[0];
  const std::size_t bytes = 2 * element_count({b.image_pitch, b.height});
  make_room(staging, bytes);
  auto* staged = reinterpret_cast<std::uint8_t*>(staging.data());
  parallel_for(
      2 * b.height,
      [&](int row) {
        const auto& image = row < b.height ? images.left : images.right;
        std::memcpy(staged + row * b.image_pitch, image.row(row % b.height),
                    static_cast<std::size_t>(b.width));
      },
      64);
  RECON_CUDA_TRY(cudaMemcpyAsync(const_cast<std::uint8_t*>(b.left_image), staged, bytes,
                                 cudaMemcpyHostToDevice, stream.get()));
}

void BlockStream::search(const DeviceBlock& b, const Stream& stream, BlockTiling tiling) const {
  if (b.options.left_right >= 0)
    RECON_CUDA_TRY(cudaMemsetAsync(
        b.claims, 0xFF, element_count({b.claims_pitch, b.height}) * sizeof(std::uint64_t), stream.get()));
  if (packed_words(b.options, b.hypotheses) > 0)
    launch_block_search(b, tiling, stream.get());
  else
    launch_general_block_search(b, scratch_, stream.get());
}

void BlockStream::queue(const Stream& stream, BlockTiling tiling) const {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const DeviceBlock& b = levels_[i];
    if (i > 0) {
      const DeviceBlock& finer = levels_[i - 1];
      for (const bool left : {true, false})
        launch_half_size(left ? finer.left_image : finer.right_image, finer.image_pitch, finer.width,
                         finer.height, const_cast<std::uint8_t*>(left ? b.left_image : b.right_image),
                         b.image_pitch, stream.get());
    }
    launch_block_prepare(b, stream.get());
    search(b, stream, tiling);
    if (b.limits.min_texture > 0) launch_block_texture(b, stream.get());
    launch_block_finish(b, stream.get());
  }
  for (std::size_t i = levels_.size() - 1; i > 0; --i) {
    const DisparityRange& searched = plan_[i - 1].searched;
    launch_join_levels(levels_[i - 1], levels_[i], searched.min + searched.count - 1, stream.get());
  }
}

Image<float> BlockStream::download(PinnedBuffer& staging, const Stream& stream) const {
  const DeviceBlock& b = levels_[0];
  const std::size_t bytes = element_count({b.pitch, b.height}) * sizeof(float);
  if (staging.bytes() < bytes) stream.synchronize();  // copies from the old buffer may still be in progress
  make_room(staging, bytes);
  RECON_CUDA_TRY(cudaMemcpyAsync(staging.data(), b.map, bytes, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  const auto* staged = reinterpret_cast<const float*>(staging.data());
  Image<float> map(b.width, b.height);
  parallel_for(
      b.height,
      [&](int y) {
        std::memcpy(map.row(y), staged + y * b.pitch, static_cast<std::size_t>(b.width) * sizeof(float));
      },
      64);
  return map;
}

}  // namespace recon::cuda
