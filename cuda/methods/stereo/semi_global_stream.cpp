#include "cuda/methods/stereo/semi_global_stream.hpp"

#include "core/aligned_buffer.hpp"
#include "cuda/methods/packed_rows.hpp"
#include "cuda/methods/stereo/pair_disparity.hpp"
#include "cuda/refine/median.hpp"

namespace recon::cuda {
namespace {

/// The input of the optimizer, without addresses.
SemiGlobalInput optimizer_input(int width, int height, const PairOptions& options) {
  SemiGlobalInput input;
  input.guide_pitch = width;
  input.width = width;
  input.height = height;
  input.planes = options.range.count;
  input.options = options.semi_global.optimizer;
  input.max_cost = max_pair_cost(options.semi_global);
  input.right_view = options.semi_global.left_right >= 0;
  input.min_disparity = options.range.min;
  return input;
}

std::size_t pixels_of(int width, int height) {
  return element_count({width, height});
}

}  // namespace

struct SemiGlobalStream::Memory {
  std::size_t pixels, codes, costs;

  Memory(int width, int height, const PairOptions& options)
      : pixels(pixels_of(width, height)),
        codes(element_count({width, height, code_bytes(options.semi_global.transform.transform)})),
        costs(element_count({width, height, padded_planes(options.range.count)})) {}
};

std::size_t SemiGlobalStream::bytes(int width, int height, const PairOptions& options, bool words) {
  const Memory memory(width, height, options);
  return 2 * arena_bytes(memory.pixels) + (words ? 2 * arena_bytes(memory.pixels * 2) : 0) +
         2 * arena_bytes(memory.codes) + arena_bytes(memory.costs) +
         2 * arena_bytes(memory.pixels * sizeof(float)) +
         SemiGlobal::bytes(optimizer_input(width, height, options));
}

SemiGlobalStream::SemiGlobalStream(int width, int height, const PairOptions& options, bool words,
                                   Arena& arena)
    : width_(width), height_(height), options_(options), words_(words), optimizer_([&] {
        arena.reset(bytes(width, height, options, words));
        const Memory memory(width, height, options);
        for (int i = 0; i < 2; ++i) {
          grey_[i] = arena.take<std::uint8_t>(memory.pixels);
          grey16_[i] = words ? arena.take<std::uint16_t>(memory.pixels) : nullptr;
          codes_[i] = arena.take<std::byte>(memory.codes);
        }
        costs_ = arena.take<std::uint8_t>(memory.costs);
        disparity_ = arena.take<float>(memory.pixels);
        median_ = arena.take<float>(memory.pixels);
        SemiGlobalInput input = optimizer_input(width, height, options);
        input.costs = costs_;
        input.guide = grey_[0];
        return SemiGlobal(input, arena);
      }()) {}

void SemiGlobalStream::upload(const GreyPair& images, PinnedBuffer& staging, const Stream& stream) const {
  const std::size_t pixels = pixels_of(width_, height_);
  reserve(staging, 6 * pixels);
  const auto send = [&](void* device, const std::byte* staged, std::size_t bytes) {
    RECON_CUDA_TRY(cudaMemcpyAsync(device, staged, bytes, cudaMemcpyHostToDevice, stream.get()));
  };
  std::byte* at = staging.data();
  for (int i = 0; i < 2; ++i, at += pixels) {
    pack_rows(i == 0 ? images.left : images.right, at);
    send(grey_[i], at, pixels);
  }
  for (int i = 0; words_ && i < 2; ++i, at += 2 * pixels) {
    pack_rows(i == 0 ? images.left16 : images.right16, at);
    send(grey16_[i], at, 2 * pixels);
  }
}

DeviceGrey SemiGlobalStream::grey(int image) const {
  const void* pixels = words_ ? static_cast<const void*>(grey16_[image]) : grey_[image];
  return {pixels, words_, width_, width_, height_};
}

void SemiGlobalStream::queue(const Stream& stream) const {
  optimizer_.queue_clear(stream);
  queue_transform(stream);
  queue_costs(stream);
  optimizer_.queue_paths(stream);
  optimizer_.queue_winner(stream);
  queue_disparity(stream);
  queue_median(stream);
}

void SemiGlobalStream::queue_transform(const Stream& stream) const {
  for (int i = 0; i < 2; ++i)
    launch_transform(grey(i), options_.semi_global.transform, codes_[i], stream.get());
}

void SemiGlobalStream::queue_costs(const Stream& stream) const {
  const TransformedPair pair{codes_[0],
                             codes_[1],
                             width_,
                             height_,
                             options_.range.min,
                             options_.range.count,
                             options_.semi_global.outside_cost};
  launch_transform_costs(pair, options_.semi_global.transform.transform, costs_,
                         padded_planes(options_.range.count), stream.get());
}

void SemiGlobalStream::queue_disparity(const Stream& stream) const {
  launch_pair_disparity({optimizer_.winners(), optimizer_.right_keys(), width_, height_},
                        options_.semi_global, options_.range.min, disparity_, stream.get());
}

void SemiGlobalStream::queue_median(const Stream& stream) const {
  if (options_.semi_global.median) launch_median_3x3(disparity_, width_, height_, median_, stream.get());
}

Image<float> SemiGlobalStream::download(PinnedBuffer& staging, const Stream& stream) const {
  return download_map(options_.semi_global.median ? median_ : disparity_, width_, height_, staging, stream);
}

}  // namespace recon::cuda
