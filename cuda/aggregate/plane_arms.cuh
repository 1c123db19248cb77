#pragma once

#include <cstdint>

#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// common_cross of two packed crosses: left and up in one word, right and down in the other, so that one
/// instruction handles two lengths.
struct ArmWords {
  std::uint32_t left_up, right_down;

  __device__ __forceinline__ int left() const { return static_cast<int>(left_up & 0xFFFFu); }
  __device__ __forceinline__ int right() const { return static_cast<int>(right_down & 0xFFFFu); }
  __device__ __forceinline__ int up() const { return static_cast<int>(left_up >> 16); }
  __device__ __forceinline__ int down() const { return static_cast<int>(right_down >> 16); }
};

/// Unpacks a cross from memory: left, right, up, down from the lowest byte on.
__device__ __forceinline__ ArmWords arm_words(std::uint32_t cross) {
  return {cross & 0x00FF00FFu, cross >> 8 & 0x00FF00FFu};
}

__device__ __forceinline__ ArmWords shorter_arms(ArmWords p, ArmWords q) {
  return {__vminu2(p.left_up, q.left_up), __vminu2(p.right_down, q.right_down)};
}

/// The arms of one plane, along one row.
class RowArms {
 public:
  __device__ __forceinline__ RowArms(const CrossImages& images, int width, int y, int d)
      : here_(word_row(images.reference, images.pitch, y)),
        there_(images.source ? word_row(images.source, images.pitch, y) : nullptr),
        shift_(matching_column(images.side, 0, images.min_disparity + d)),
        width_(static_cast<unsigned>(width)) {}

  __device__ __forceinline__ ArmWords operator()(int x) const {
    const ArmWords arms = arm_words(__ldg(here_ + x));
    if (!there_ || static_cast<unsigned>(x + shift_) >= width_) return arms;
    return shorter_arms(arms, arm_words(__ldg(there_ + x + shift_)));
  }

 private:
  static __device__ __forceinline__ const std::uint32_t* word_row(const Cross* image, std::ptrdiff_t pitch,
                                                                  int y) {
    return reinterpret_cast<const std::uint32_t*>(image) + y * pitch;
  }

  const std::uint32_t *here_, *there_;
  int shift_;
  unsigned width_;
};

}  // namespace recon::cuda
