#include "cuda/testing/cuda_supported_planes.hpp"

#include "cuda/methods/sweep/supported_planes.hpp"
#include "cuda/testing/support.hpp"

namespace recon::cuda {
namespace {

constexpr std::uint8_t kPoison = 0xA5;

/// More than what is taken, of which the alignment of each part is the least.
std::size_t bytes_of(std::size_t pixels, const std::vector<WarpedImage>& sources) {
  std::size_t bytes = pixels * (sizeof(PatchState) + 16) + (std::size_t{1} << 16);
  for (const WarpedImage& source : sources)
    bytes += 5 * element_count({source.image.width, source.image.height}) + (std::size_t{1} << 10);
  return bytes;
}

}  // namespace

void fill_supported_planes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                           const std::vector<WarpedImage>& sources, const InverseRange& range,
                           SourceStorage storage, int device) {
  use_device(device);
  const int width = states.width, height = states.height;
  const std::size_t pixels = element_count({width, height});
  Call call(bytes_of(pixels, sources), kPoison);
  const auto take = [&](auto& pointer, std::size_t count) {
    using T = std::remove_reference_t<decltype(*pointer)>;
    pointer = reinterpret_cast<T*>(call.take_bytes(count * sizeof(T)));
  };
  PatchArgs args{};
  args.sources = static_cast<int>(sources.size());
  args.storage = storage;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto& [warp, image] = sources[s];
    const std::uint8_t* bytes = call.upload(image, image.width);
    args.source[s] = {warp, image.width, image.height, image.width, {bytes, nullptr, nullptr}};
    if (storage == SourceStorage::kBytes) continue;
    std::uint32_t* quads = nullptr;
    take(quads, element_count({image.width, image.height}));
    launch_quads(bytes, image.width, image.width, image.height, quads, image.width, call.stream());
    args.source[s].channel[0] = quads;
  }
  args.reference = call.upload(reference, width);
  args.reference_pitch = width;
  args.iteration.range = range;
  args.states = {call.upload(ImageView<const PatchState>(states), width), width, height, width};
  SupportMemory memory{};
  take(memory.kinds, pixels);
  take(memory.choices, pixels);
  take(memory.parents, pixels);
  take(memory.balances, pixels);
  take(memory.levels, 2 * kComparedSources);
  launch_supported_planes(args, memory, call.stream());
  const Image<PatchState> result = call.download(args.states.data, width, width, height);
  for (int y = 0; y < height; ++y) std::copy_n(result.row(y), width, &states(0, y));
}

}  // namespace recon::cuda
