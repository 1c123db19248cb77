#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon::test {

/// A test that runs on a GPU: skipped with the reason where there is none, failing when RECON_REQUIRE_GPU=1.
template <class Base = ::testing::Test>
class GpuTest : public Base {
 protected:
  void SetUp() override {
    const CudaDevices devices = find_cuda_devices();
    if (!devices.usable.empty()) return;
    const char* required = std::getenv("RECON_REQUIRE_GPU");
    if (required && std::string(required) == "1")
      GTEST_FAIL() << "RECON_REQUIRE_GPU=1, but " << devices.why_not;
    GTEST_SKIP() << devices.why_not;
  }
};

/// Equal to the bit, so that NaN equals NaN.
inline ::testing::AssertionResult same_image(const Image<float>& a, const Image<float>& b) {
  if (a.width() != b.width() || a.height() != b.height())
    return ::testing::AssertionFailure() << "sizes differ";
  std::size_t count = 0;
  std::string first;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      if (std::memcmp(&a(x, y), &b(x, y), sizeof(float)) == 0) continue;
      if (std::isnan(a(x, y)) && std::isnan(b(x, y))) continue;
      if (count++ == 0)
        first = "first at (" + std::to_string(x) + ", " + std::to_string(y) +
                "): " + std::to_string(a(x, y)) + " and " + std::to_string(b(x, y));
    }
  if (count == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << count << " of " << a.width() * a.height() << " pixels differ, " << first;
}

inline void expect_same(const DepthEstimate& a, const DepthEstimate& b) {
  EXPECT_TRUE(same_image(a.depth, b.depth)) << "depth";
  EXPECT_TRUE(same_image(a.cost, b.cost)) << "cost";
  EXPECT_TRUE(same_image(a.confidence, b.confidence)) << "confidence";
}

}  // namespace recon::test
