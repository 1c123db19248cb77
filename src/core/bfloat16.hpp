#pragma once

#include <cstdint>

namespace recon {

/// The upper half of a float as stored: its range, with 8 bits of precision. Arithmetic is done in float;
/// results are rounded to nearest, ties to even.
struct Bfloat16 {
  std::uint16_t bits;
};

}  // namespace recon
