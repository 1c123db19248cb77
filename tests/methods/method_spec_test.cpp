#include "methods/method_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "methods/presets.hpp"
#include "methods/stage_list.hpp"

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
TEST(MethodSpecCheck, FusedStagesGoWithNoOthers) {
  const std::vector<std::function<void(MethodSpec&)>> changes = {
      [](MethodSpec& spec) { spec.cost.kind = CostKind::kAdCensus; },
      [](MethodSpec& spec) { spec.optimizer = Optimizer::kWinnerTakeAll; },
      [](MethodSpec& spec) { spec.aggregation.kind = Aggregation::kConstantWindow; },
      [](MethodSpec& spec) { spec.refine.graph_cut = true; },
      [](MethodSpec& spec) { spec.refine.vote = true; },
      [](MethodSpec& spec) { spec.refine.interpolate = true; },
      [](MethodSpec& spec) { spec.refine.label_edges = true; }};
  for (const auto& change : changes) {
    MethodSpec spec = presets::semi_global();
    change(spec);
    EXPECT_NE(contradiction(spec, false), nullptr);
  }
  for (MethodSpec spec : {presets::block_matching(), presets::belief_propagation()}) {
    spec.refine.median = true;
    EXPECT_NE(contradiction(spec, false), nullptr);
  }
}

TEST(MethodSpecCheck, ListsThatHaveAFusedFormAreRecognised) {
  EXPECT_EQ(fused_stages(presets::block_matching()), FusedStages::kBlocks);
  EXPECT_EQ(fused_stages(presets::semi_global()), FusedStages::kPaths);
  EXPECT_EQ(fused_stages(presets::belief_propagation()), FusedStages::kBeliefs);
  MethodSpec spec = presets::semi_global();
  spec.judge = WinnerJudge::kOtherView;
  EXPECT_EQ(fused_stages(spec), std::nullopt) << "the other view is matched on its own";
  EXPECT_EQ(contradiction(spec, false), nullptr);
  for (const MethodSpec& stages : {presets::plane_sweep(), presets::pipeline(), presets::ad_census()})
    EXPECT_EQ(fused_stages(stages), std::nullopt);
}

std::string stages_of(const MethodSpec& spec, Scope scope) {
  std::string names;
  for_stages(spec, scope, [&](const StageRow& stage) { names += std::string(stage.name) + "; "; });
  return names;
}

TEST(StageList, HasTheStagesOfAMethodInTheirOrder) {
  MethodSpec sweep = presets::plane_sweep();
  EXPECT_EQ(stages_of(sweep, Scope::kLabels), "labels; ") << "costs are not stored";
  EXPECT_EQ(stages_of(sweep, Scope::kPatches), "");
  sweep.aggregation.kind = Aggregation::kConstantWindow;
  set_patches(sweep, true);
  sweep.refine.prior = sweep.refine.smooth_patches = sweep.refine.patch_edges = true;
  EXPECT_EQ(stages_of(coarsest_method(sweep), Scope::kLabels), "costs; aggregation; labels; ");
  EXPECT_EQ(stages_of(sweep, Scope::kPatches), "patches; prior; edges; ");
  EXPECT_EQ(
      stages_of(presets::ad_census(), Scope::kLabels),
      "other view; costs; aggregation; labels; check; surfaces; votes; interpolation; edges; sub-pixel; "
      "median; ");
  EXPECT_EQ(stages_of(presets::pipeline(), Scope::kLabels),
            "other view; costs; labels; check; invalidation; sub-pixel; median; ");
  EXPECT_EQ(stages_of(presets::semi_global(), Scope::kLabels), "labels; median; smoothing; ")
      << "sums are judged with the labels";
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
