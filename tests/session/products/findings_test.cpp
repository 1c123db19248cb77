#include "session/products/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recon {
namespace {

using testing::ElementsAre;

TEST(Findings, NameFiveViewsThatAreLeftOutAndCountTheOthers) {
  std::vector<LeftOut> views;
  for (const char* name : {"a", "b", "c", "d", "e"}) views.push_back({name, "no photo"});
  Findings five, seven;
  five.warn_of_left_out(views);
  EXPECT_THAT(five.warnings,
              ElementsAre("a is left out: no photo", "b is left out: no photo", "c is left out: no photo",
                          "d is left out: no photo", "e is left out: no photo"));
  views.push_back({"f", "too small"});
  views.push_back({"g", "no photo"});
  seven.warn_of_left_out(views);
  ASSERT_EQ(seven.warnings.size(), 6u);
  EXPECT_EQ(seven.warnings.back(), "2 more views are left out, such as f: too small");
  views.pop_back();
  Findings six;
  six.warn_of_left_out(views);
  EXPECT_EQ(six.warnings.back(), "1 more view is left out, such as f: too small");
}

TEST(Findings, KnowWhatWasSaid) {
  Findings findings;
  EXPECT_TRUE(findings.is_new("a cause"));
  EXPECT_FALSE(findings.is_new("a cause"));
  EXPECT_TRUE(findings.is_new("another cause"));
}

}  // namespace
}  // namespace recon
