#include "core/hypotenuse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace recon {
namespace {

/// Values whose last bit an FMA changes; by std::hypot of glibc on x86-64.
TEST(Hypotenuse, HasTheSameBitsOnEveryProcessor) {
  EXPECT_EQ(hypotenuse(9 / 7.0, 1 / 3.0), 0x1.540652e41cc4p+0);
  EXPECT_EQ(hypotenuse(52 / 3.0, 60 / 7.0), 0x1.3563be9180b2cp+4);
  EXPECT_EQ(hypotenuse(-104 / 7.0, 103 / 3.0), 0x1.2b47ccb6ad57p+5);
  EXPECT_EQ(hypotenuse(264 / 7.0, -256 / 3.0), 0x1.752f1cbe5cc53p+6);
}

TEST(Hypotenuse, OfWholeTrianglesIsExact) {
  for (const double scale : {1.0, 0x1p-40, 0x1p40, 0x1p-700, 0x1p700}) {
    EXPECT_EQ(hypotenuse(3 * scale, -4 * scale), 5 * scale);
    EXPECT_EQ(hypotenuse(12 * scale, 5 * scale), 13 * scale);
  }
}

TEST(Hypotenuse, OfNothingAndOfWhatIsNoNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                   kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(hypotenuse(0.0, 0.0), 0);
  EXPECT_EQ(hypotenuse(0.0, -2.0), 2);
  EXPECT_EQ(hypotenuse(-kInfinity, 1), kInfinity);
  EXPECT_EQ(hypotenuse(kInfinity, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(hypotenuse(kNaN, 3)));
  EXPECT_TRUE(std::isnan(hypotenuse(3, kNaN)));
}

}  // namespace
}  // namespace recon
