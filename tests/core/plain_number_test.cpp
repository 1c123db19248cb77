// Numbers as people read them.

#include "core/plain_number.hpp"

#include <gtest/gtest.h>

namespace recon {
namespace {

TEST(PlainNumber, HasNoExponentWhereItIsShortWithoutOne) {
  EXPECT_EQ(plain(1e-4), "0.0001");
  EXPECT_EQ(plain(1e-5F), "0.00001");
  EXPECT_EQ(plain(-2.5e-7), "-0.00000025");
  EXPECT_EQ(plain(1e6), "1000000");
  EXPECT_EQ(plain(0.1), "0.1");
  EXPECT_EQ(plain(0.0), "0");
  EXPECT_EQ(plain(7), "7");
  EXPECT_EQ(plain(1e-30), "1e-30");
  EXPECT_EQ(plain(1e29), "1e+29");
}

TEST(PlainNumber, IsRoundedToDigits) {
  EXPECT_EQ(plain(0.0000123456, 3), "0.0000123");
  EXPECT_EQ(plain(123456.0, 3), "123000");
  EXPECT_EQ(plain(1.2999999, 3), "1.3");
  EXPECT_EQ(plain(0.0, 4), "0");
  EXPECT_EQ(plain(9.996, 3), "10");
}

}  // namespace
}  // namespace recon
