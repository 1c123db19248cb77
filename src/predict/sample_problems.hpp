#pragma once

#include <cstdint>

#include "methods/backend.hpp"

namespace recon {

/// Problems of given sizes to measure stages with: a texture of several scales, the same on every machine.

/// Size of a sample.
struct SampleSize {
  int width = 0, height = 0, planes = 0;
  int sources = 1;     ///< of a sweep
  double reach = 0.5;  ///< width by which a pixel of a sweep moves in the sources from far to near, >= 0
};

/// A sweep that owns its images.
struct SampleSweep {
  Image<std::uint8_t> image;  ///< that all views show of the middle plane
  SweepProblem problem;
};

/// A grey view and sources around it, each aimed at the middle plane.
/// @param size  planes >= 2, sources 1 .. kMaxSources
SampleSweep sample_sweep(const SampleSize& size, const SweepSpec& sweep);

/// A pair that owns its images.
struct SamplePair {
  Image<std::uint8_t> left, right;
  Image<Rgb8> left_colour, right_colour;
  PairProblem problem;
};

/// A pair whose disparities, 0 .. size.planes - 1, rise downwards and jump where the colour does.
/// @param options  the range in it is not looked at
SamplePair sample_pair(const SampleSize& size, const PairOptions& options);

}  // namespace recon
