#pragma once

#include <cstdint>

#include "core/hd.hpp"

namespace recon {

/// The grey value of a confidence; 0 of an unknown one.
RECON_HD std::uint8_t confidence_grey(float confidence) {
  if (!(confidence > 0)) return 0;
  const float value = 255 * (confidence < 1.0f ? confidence : 1.0f);
  const int whole = static_cast<int>(value);  // std::lround is a call, and takes three times as long
  return static_cast<std::uint8_t>(whole + (value - static_cast<float>(whole) >= 0.5f ? 1 : 0));
}

RECON_HD float confidence_of(std::uint8_t grey) {
  return static_cast<float>(grey) / 255;
}

/// A known confidence as files have it, a multiple of 1/255; an unknown one stays.
RECON_HD float rounded_confidence(float confidence) {
  return confidence == confidence ? confidence_of(confidence_grey(confidence)) : confidence;
}

}  // namespace recon
