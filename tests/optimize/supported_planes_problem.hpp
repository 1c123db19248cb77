#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "optimize/patch_match/supported_planes.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"

namespace recon::test {

constexpr InverseRange kSupportedRange = {0.3f, 2.2f};
/// A plane as steep in images of every size.
constexpr reference::TextbookPlane slanted_plane(int width) {
  return {1.0, 0.384 / width, -0.288 / width};
}

/// A rectangle of pixels.
struct Box {
  int left, top, right, bottom;
  bool contains(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
};

/// A textured plane whose states are right, but for random ones in a hole.
struct SupportedPlanesProblem {
  reference::TexturedPlane scene;
  Image<PatchState> states;

  SupportedPlanesProblem(int width, int height, const Box& hole)
      : scene(reference::textured_plane(width, height, slanted_plane(width))), states(width, height) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        states(x, y) =
            hole.contains(x, y) ? PatchState{random_plane(x, y), 0.6f} : PatchState{plane(x, y), 0.1f};
  }

  SlantedPlane plane(int x, int y, double pixels = 0) const {
    const reference::TextbookPlane truth = scene.at(x, y);
    return {static_cast<float>(truth.w + pixels / scene.parallax()), static_cast<float>(truth.wx),
            static_cast<float>(truth.wy)};
  }

  SlantedPlane random_plane(int x, int y) const {
    const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
    return plane(x, y, 14 * (2 * reference::hashed(21, a, b) - 1));
  }

  /// Moves the planes of a box by some pixels of parallax.
  void displace(const Box& box, double pixels) {
    for (int y = box.top; y < box.bottom; ++y)
      for (int x = box.left; x < box.right; ++x) states(x, y).plane = plane(x, y, pixels);
  }

  /// Moves all planes a little, and replaces a tenth of them by random ones.
  void disturb() {
    for (int y = 0; y < states.height(); ++y)
      for (int x = 0; x < states.width(); ++x) {
        const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
        PatchState& state = states(x, y);
        state.plane.w += static_cast<float>(0.6 * (reference::hashed(22, a, b) - 0.5) / scene.parallax());
        if (reference::hashed(23, a, b) < 0.1)
          state = {random_plane(x, y), reference::hashed(24, a, b) < 0.5 ? 0.2f : 0.7f};
      }
  }

  std::vector<WarpedImage> sources() const {
    std::vector<WarpedImage> warped;
    for (const PosedImage& source : scene.sources)
      warped.push_back({make_source_warp(scene.reference.camera, scene.reference.cam_from_world,
                                         source.camera, source.cam_from_world),
                        source.channel[0]});
    return warped;
  }

  Image<PatchState> filled() const {
    Image<PatchState> result = states.clone();
    fill_supported_planes(result.view(), scene.reference.channel[0], sources(), kSupportedRange);
    return result;
  }
};

}  // namespace recon::test
