#pragma once

#include <cstdint>
#include <cstring>

#include "core/hd.hpp"

namespace recon {

/// The upper half of a float as stored: its range, with 8 bits of precision. Arithmetic is done in float.
struct Bfloat16 {
  std::uint16_t bits;
};

/// Nearest bfloat16, ties to even; overflow gives infinity; NaN stays NaN.
RECON_HD Bfloat16 to_bfloat16(float value) {
  std::uint32_t f;
  memcpy(&f, &value, sizeof f);
  if ((f & 0x7FFFFFFFu) > 0x7F800000u) return {static_cast<std::uint16_t>((f >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((f + 0x7FFFu + ((f >> 16) & 1u)) >> 16)};
}

/// The value as a float; exact.
RECON_HD float to_float(Bfloat16 value) {
  const std::uint32_t f = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  memcpy(&result, &f, sizeof result);
  return result;
}

}  // namespace recon
