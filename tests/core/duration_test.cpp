#include "core/duration.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace recon {
namespace {

TEST(DurationText, HasTwoDigitsInTheUnitOfItsSize) {
  const std::pair<double, const char*> texts[] = {
      {0, "0.001 s"},    {0.0049, "0.005 s"}, {0.0364, "0.036 s"}, {0.996, "1 s"},
      {3, "3 s"},        {3.54, "3.5 s"},     {9.96, "10 s"},      {45.4, "45 s"},
      {99, "99 s"},      {120, "2 min"},      {211.29, "3.5 min"}, {600, "10 min"},
      {5990, "100 min"}, {7407, "2.1 h"},     {36000, "10 h"},     {4e6, "1111 h"}};
  for (const auto& [seconds, text] : texts) EXPECT_EQ(duration_text(seconds), text) << seconds;
}

TEST(MeasuredText, HasTenthsOfASecondBelowTenSeconds) {
  const std::pair<double, const char*> texts[] = {{0, "0.1 s"},    {1.46, "1.5 s"}, {3, "3.0 s"},
                                                  {9.96, "10 s"},  {10.4, "10 s"},  {99, "99 s"},
                                                  {211, "3.5 min"}};
  for (const auto& [seconds, text] : texts) EXPECT_EQ(measured_text(seconds), text) << seconds;
}

}  // namespace
}  // namespace recon
