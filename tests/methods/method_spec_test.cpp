#include "methods/method_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "methods/presets.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

TEST(MethodSpecCheck, PresetsBelongTogether) {
  EXPECT_EQ(contradiction(presets::plane_sweep(), true), nullptr);
  for (const MethodSpec& pair :
       {presets::semi_global(), presets::block_matching(), presets::belief_propagation(), presets::pipeline(),
        presets::plain_pipeline(), presets::ad_census(), presets::named_ad_census()})
    EXPECT_EQ(contradiction(pair, false), nullptr);
}

/// What one of the executors would ignore, or run over arrays that are not there.
TEST(MethodSpecCheck, WholeSemiGlobalMatchingHasNoOtherStages) {
  const std::vector<std::function<void(MethodSpec&)>> changes = {
      [](MethodSpec& spec) { spec.cost.kind = CostKind::kAdCensus; },
      [](MethodSpec& spec) { spec.optimizer = Optimizer::kWinnerTakeAll; },
      [](MethodSpec& spec) { spec.aggregation.kind = Aggregation::kConstantWindow; },
      [](MethodSpec& spec) { spec.refine.graph_cut = true; },
      [](MethodSpec& spec) { spec.refine.vote = true; },
      [](MethodSpec& spec) { spec.refine.interpolate = true; },
      [](MethodSpec& spec) { spec.refine.edges = true; }};
  for (const auto& change : changes) {
    MethodSpec spec = presets::semi_global();
    change(spec);
    EXPECT_NE(contradiction(spec, false), nullptr);
  }
}

TEST(MethodSpecCheck, SaysWhatDoesNotBelongTogether) {
  MethodSpec spec = presets::plane_sweep();
  spec.refine.prior = true;
  try {
    check(spec, true);
    ADD_FAILURE();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the planar prior needs patches"));
  }
}

}  // namespace
}  // namespace recon
