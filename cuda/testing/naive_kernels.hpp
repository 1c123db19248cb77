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

/// An image on the device, grey, rows without padding.
struct NaiveImage {
  const NaiveCamera* camera;
  const std::uint8_t* pixels;
};

/// The paper's first GPU version of the sweep, as the baseline of the benchmark: one thread a pixel that
/// loops over the planes and the window, parameters in double precision in global memory, a float cost cube
/// in global memory by (d, y, x). Each launch does one source and keeps the min mean absolute difference over
/// the sources in the cube; the last one finds the plane of min cost of every pixel. Source: E. Achten, 2025,
/// Algorithm 1 and its naive kernel.
/// @param images      the reference of `width` x `height` pixels, then `sources` sources
/// @param cube        one float per pixel and plane
/// @param[out] plane  one per pixel
/// @throws DeviceError
void launch_naive_sweep(const NaiveImage* images, int sources, int width, int height, PlaneSet planes,
                        int window, float* cube, std::uint16_t* plane, cudaStream_t stream);

/// Adds to `wrong` how many floats in [2^-10, 2^33) have a reciprocal that differs from the rounded one.
/// @throws DeviceError
void launch_reciprocals(unsigned long long* wrong, cudaStream_t stream);

}  // namespace recon::cuda
