#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "match/warp_step.hpp"

namespace recon::cuda {

/// A camera in double precision, pixels counted from their centres.
struct NaiveCamera {
  double k[9], k_inverse[9];
  double r[9], r_inverse[9];  ///< camera from world, world from camera
  double t[3], t_inverse[3];
  int width, height;
};

/// The paper's first GPU version of the sweep, as the baseline of the benchmark: one thread a pixel that
/// loops over the planes and the window, parameters in double precision in global memory, a float cost cube
/// in global memory by (d, y, x). Each launch does one source and keeps the least mean absolute difference
/// over the sources in the cube, which holds 255 at first. Grey images, rows without padding. Source: E.
/// Achten, 2025, Algorithm 1 and its naive kernel.
/// @throws DeviceError
void launch_naive_sweep(const NaiveCamera* reference, const NaiveCamera* source,
                        const std::uint8_t* reference_pixels, const std::uint8_t* source_pixels, int width,
                        int height, PlaneSet planes, int window, float* cube, cudaStream_t stream);

/// Fills the cube with 255. @throws DeviceError
void launch_naive_clear(float* cube, std::size_t count, cudaStream_t stream);

/// The plane of least cost of every pixel. @throws DeviceError
void launch_naive_winner(const float* cube, int width, int height, int planes, std::uint16_t* plane,
                         cudaStream_t stream);

/// Adds to `wrong` how many floats in [2^-10, 2^33) have a reciprocal that differs from the rounded one.
/// @throws DeviceError
void launch_reciprocals(unsigned long long* wrong, cudaStream_t stream);

}  // namespace recon::cuda
