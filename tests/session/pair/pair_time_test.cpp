// The predicted time of a pair.

#include <gtest/gtest.h>

#include <cstdlib>

#include "methods/presets.hpp"
#include "session/folder_fixture.hpp"
#include "session/pair/pair_costs.hpp"

namespace recon {
namespace {

class PairTimes : public Folder {
 protected:
  PairTimes() { ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1); }
};

TEST_F(PairTimes, AreInProportionToEarlierRuns) {
  Backends backends;
  backends.push_back(make_cpu_backend({2, {}}));
  PairPlan plan;
  plan.size = {450, 375};
  plan.options = PairSpec(presets::semi_global());
  plan.options.range = {0, 64};
  const auto time = [&] { return PairTime(plan, backends, 2); };
  const double shipped = time().seconds();
  ASSERT_GT(shipped, 0);
  time().learn(0.01);
  EXPECT_EQ(time().seconds(), shipped) << "too short to be noted";
  time().learn(5);
  EXPECT_NEAR(time().seconds(), 5, 1e-9);
  plan.size = {900, 750};
  EXPECT_GT(time().seconds(), 10) << "of larger images it is more";
}

}  // namespace
}  // namespace recon
