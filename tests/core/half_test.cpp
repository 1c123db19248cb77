#include "core/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace recon {
namespace {

/// The value of a half by the definition of IEEE 754: (-1)^s 2^(e-15) (1 + m/1024), 2^-14 m/1024 for e = 0.
double value_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa / 1024, -14);
  return sign * std::ldexp(1 + mantissa / 1024, exponent - 15);
}

/// The half nearest to a float that is not NaN, in units in the last place, ties to even.
std::uint16_t nearest_by_counting(float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int exponent = -14;  // of the binade; smaller values share the spacing of the smallest normal numbers
  while (exponent < 15 && magnitude >= std::ldexp(1.0, exponent + 1)) ++exponent;
  const double units = magnitude / std::ldexp(1.0, exponent - 10);  // exact: a division by a power of two
  double count = std::floor(units);
  const double rest = units - count;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(count, 2) == 1)) count += 1;
  if (count * std::ldexp(1.0, exponent - 10) > 65504) return static_cast<std::uint16_t>(sign | 0x7C00);
  // 1024 units are the first number of the next binade; the addition carries into the exponent.
  return static_cast<std::uint16_t>(sign + (exponent + 14) * 1024 + static_cast<int>(count));
}

TEST(Half, AllValuesAreThoseOfTheDefinition) {
  for (int bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const double expected = value_by_definition(half.bits);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(to_float(half))) << bits;
    else
      EXPECT_EQ(to_float(half), expected) << bits;
    EXPECT_EQ(std::signbit(to_float(half)), (bits & 0x8000) != 0) << bits;
  }
}

TEST(Half, AllValuesComeBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(to_float(to_half(value)))) << bits;
    else
      EXPECT_EQ(to_half(value).bits, half.bits) << value;
  }
}

TEST(Half, RoundsToNearestAtEveryMidpointAndBesideIt) {
  for (int bits = 0; bits < 0x7C00; ++bits) {
    const double low = value_by_definition(static_cast<std::uint16_t>(bits));
    const double high = bits == 0x7BFF ? 65536.0 : value_by_definition(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    for (const float value : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 1e9f)}) {
      ASSERT_EQ(to_half(value).bits, nearest_by_counting(value)) << value;
      ASSERT_EQ(to_half(-value).bits, nearest_by_counting(-value)) << -value;
    }
  }
}

TEST(Half, RoundsRandomFloatsToNearest) {
  constexpr unsigned kSeed = 20260101;
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> mantissa(1.0f, 2.0f);
  std::uniform_int_distribution<int> exponent(-30, 20);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::ldexp(mantissa(random), exponent(random)) * (i % 2 == 0 ? 1.0f : -1.0f);
    ASSERT_EQ(to_half(value).bits, nearest_by_counting(value)) << value << ", seed " << kSeed;
  }
}

TEST(Half, ExtremesOfFloat) {
  using Limits = std::numeric_limits<float>;
  EXPECT_EQ(to_half(Limits::infinity()).bits, 0x7C00);
  EXPECT_EQ(to_half(-Limits::infinity()).bits, 0xFC00);
  EXPECT_EQ(to_half(Limits::max()).bits, 0x7C00);
  EXPECT_EQ(to_half(65519.996f).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7C00);
  EXPECT_EQ(to_half(Limits::denorm_min()).bits, 0);
  EXPECT_EQ(to_half(-0.0f).bits, 0x8000);
  EXPECT_TRUE(std::isnan(to_float(to_half(Limits::quiet_NaN()))));
}

TEST(Half, NonNegativeHalvesOrderAsTheirBits) {
  for (int bits = 1; bits <= kHalfInfinityBits; ++bits)
    ASSERT_LT(to_float({static_cast<std::uint16_t>(bits - 1)}), to_float({static_cast<std::uint16_t>(bits)}));
}

}  // namespace
}  // namespace recon
