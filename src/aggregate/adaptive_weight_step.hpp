#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "core/image.hpp"

namespace recon {

struct AdaptiveWeightOptions {
  int radius = 17;  ///< of the window, pixels, 0 .. kMaxAdaptiveRadius
  /// gamma_c, CIELab units, > 0. Yoon and Kweon use 5; with colour differences as costs, 10 to 14 reduce the
  /// errors on Middlebury's tsukuba, venus, teddy and cones to a third to two thirds.
  float gamma_colour = 12.0f;
  float gamma_space = 17.5f;  ///< gamma_s (gamma_p of Yoon and Kweon), pixels, > 0
};

inline constexpr int kMaxAdaptiveRadius = 64;

/// A colour in CIE 1976 L*a*b*.
struct Lab {
  float l, a, b;
};

RECON_HD float linear_light(int srgb) {
  const float v = static_cast<float>(srgb) / 255.0f;
  return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

RECON_HD float lab_curve(float t) {
  return t > 216.0f / 24389.0f ? cbrtf(t) : (24389.0f / 27.0f * t + 16.0f) / 116.0f;
}

/// CIELab of an sRGB colour (IEC 61966-2-1) with white point D65: L* 0 .. 100.
RECON_HD Lab to_lab(Rgb8 colour) {
  const float r = linear_light(colour.r), g = linear_light(colour.g), b = linear_light(colour.b);
  const float x = lab_curve((0.4124564f * r + 0.3575761f * g + 0.1804375f * b) / 0.95047f);
  const float y = lab_curve(0.2126729f * r + 0.7151522f * g + 0.0721750f * b);
  const float z = lab_curve((0.0193339f * r + 0.1191920f * g + 0.9503041f * b) / 1.08883f);
  return {116.0f * y - 16.0f, 500.0f * (x - y), 200.0f * (y - z)};
}

}  // namespace recon
