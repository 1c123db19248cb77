#pragma once

#include "core/aligned_buffer.hpp"
#include "cuda/match/transform.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"

namespace recon::cuda {

/// The grey images of a pair on the device, left and right, rows without padding.
struct PairGrey {
  std::uint8_t* bytes[2];
  std::uint16_t* words[2];  ///< the same images in their stored depth, or null

  static PairGrey take(const PairShape& shape, bool words, Arena& arena) {
    const std::size_t pixels = element_count({shape.width, shape.height});
    PairGrey grey{};
    for (std::uint8_t*& image : grey.bytes) image = arena.take<std::uint8_t>(pixels);
    for (std::uint16_t*& image : grey.words) image = words ? arena.take<std::uint16_t>(pixels) : nullptr;
    return grey;
  }

  void upload(const GreyPair& images, PairWorkspace& workspace) const {
    const auto send = [&](const auto& image, auto* device) {
      if (device) workspace.staging.upload(image, device, image.width, workspace.stream);
    };
    send(images.left, bytes[0]);
    send(images.right, bytes[1]);
    send(images.left16, words[0]);
    send(images.right16, words[1]);
  }

  /// An image in the best depth there is.
  DeviceGrey view(int image, const PairShape& shape) const {
    const void* pixels = words[image] ? static_cast<const void*>(words[image]) : bytes[image];
    return {pixels, words[image] != nullptr, shape.width, shape.width, shape.height};
  }
};

}  // namespace recon::cuda
