#pragma once

#include <cstdint>
#include <cstring>

#include "core/hd.hpp"

namespace recon {

/// IEEE 754 binary16 as stored; arithmetic is done in float. Non-negative halves have the same order as their
/// bits.
struct Half {
  std::uint16_t bits;
};

inline constexpr std::uint16_t kHalfInfinityBits = 0x7C00;

/// Nearest half, ties to even; overflow gives infinity; NaN stays NaN.
RECON_HD Half to_half(float value) {
  std::uint32_t f;
  memcpy(&f, &value, sizeof f);
  const std::uint32_t sign = (f >> 16) & 0x8000u;
  const std::uint32_t magnitude = f & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return {static_cast<std::uint16_t>(sign | 0x7E00u)};
  if (magnitude >= 0x477FF000u) return {static_cast<std::uint16_t>(sign | kHalfInfinityBits)};
  std::uint32_t result, rest, half_way;
  if (magnitude >= 0x38800000u) {  // normal
    result = (magnitude - 0x38000000u) >> 13;
    rest = magnitude & 0x1FFFu;
    half_way = 0x1000u;
  } else if (magnitude >= 0x33000000u) {  // subnormal
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    result = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1u);
    half_way = 1u << (shift - 1u);
  } else {
    return {static_cast<std::uint16_t>(sign)};
  }
  if (rest > half_way || (rest == half_way && (result & 1u))) ++result;
  return {static_cast<std::uint16_t>(sign | result)};
}

/// The value of a half as a float; exact.
RECON_HD float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  std::uint32_t exponent = (value.bits >> 10) & 31u;
  std::uint32_t mantissa = value.bits & 0x3FFu;
  std::uint32_t f;
  if (exponent == 31u) {
    f = sign | 0x7F800000u | (mantissa << 13);
  } else if (exponent != 0u) {
    f = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  } else if (mantissa != 0u) {
    exponent = 113u;
    while (!(mantissa & 0x400u)) {
      mantissa <<= 1;
      --exponent;
    }
    f = sign | (exponent << 23) | ((mantissa & 0x3FFu) << 13);
  } else {
    f = sign;
  }
  float result;
  memcpy(&result, &f, sizeof f);
  return result;
}

/// The upper half of a float as stored: its range, with 8 bits of precision. Arithmetic is done in float;
/// results are rounded to nearest, ties to even.
struct Bfloat16 {
  std::uint16_t bits;
};

}  // namespace recon
