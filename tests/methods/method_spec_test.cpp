#include "methods/method_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "methods/presets.hpp"
#include "methods/stage_list.hpp"

namespace recon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(MethodSpecCheck, PresetsBelongTogether) {
  EXPECT_EQ(contradiction(presets::plane_sweep(), true), "");
  for (const MethodSpec& pair :
       {presets::semi_global(), presets::block_matching(), presets::belief_propagation(), presets::pipeline(),
        presets::plain_pipeline(), presets::ad_census(), presets::named_ad_census()})
    EXPECT_EQ(contradiction(pair, false), "");
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
    EXPECT_NE(contradiction(spec, false), "");
  }
  for (MethodSpec spec : {presets::block_matching(), presets::belief_propagation()}) {
    spec.refine.median = true;
    EXPECT_NE(contradiction(spec, false), "");
  }
}

TEST(MethodSpecCheck, ListsThatHaveAFusedFormAreRecognised) {
  EXPECT_EQ(fused_stages(presets::block_matching()), FusedStages::kBlocks);
  EXPECT_EQ(fused_stages(presets::semi_global()), FusedStages::kPaths);
  EXPECT_EQ(fused_stages(presets::belief_propagation()), FusedStages::kBeliefs);
  MethodSpec spec = presets::semi_global();
  spec.judge = WinnerJudge::kOtherView;
  EXPECT_EQ(fused_stages(spec), std::nullopt) << "the other view is matched on its own";
  EXPECT_EQ(contradiction(spec, false), "");
  for (const MethodSpec& stages : {presets::plane_sweep(), presets::pipeline(), presets::ad_census()})
    EXPECT_EQ(fused_stages(stages), std::nullopt);
}

/// The ids of the stages of a list.
template <class Id, class Of, std::size_t kCount>
std::vector<Id> ids(const StageRow<Id, Of> (&stages)[kCount], const std::type_identity_t<Of>& of) {
  std::vector<Id> result;
  for_stages(stages, of, [&](Id id) { result.push_back(id); });
  return result;
}

TEST(StageList, HasTheStagesOfAMethodInTheirOrder) {
  using enum LabelStage;
  MethodSpec sweep = presets::plane_sweep();
  EXPECT_THAT(ids(kLabelStages, sweep), ElementsAre(kLabels)) << "costs are not stored";
  EXPECT_THAT(ids(kPatchSteps, sweep.refine), IsEmpty());
  sweep.aggregation.kind = Aggregation::kConstantWindow;
  set_patches(sweep, true);
  sweep.refine.prior = sweep.refine.smooth_patches = sweep.refine.patch_edges = true;
  EXPECT_EQ(coarsest_method(sweep).refine, Refinement());
  EXPECT_THAT(ids(kLabelStages, coarsest_method(sweep)), ElementsAre(kCosts, kAggregation, kLabels));
  EXPECT_THAT(ids(kPatchSteps, sweep.refine), ElementsAre(PatchStep::kPrior, PatchStep::kEdges));
  EXPECT_THAT(ids(kLabelStages, presets::ad_census()),
              ElementsAre(kOtherView, kCosts, kAggregation, kLabels));
  EXPECT_THAT(ids(kPairSteps, steps_after_labels(presets::ad_census())),
              ElementsAre(PairStep::kCheck, PairStep::kSurfaces, PairStep::kVotes, PairStep::kInterpolation,
                          PairStep::kEdges, PairStep::kSubpixel, PairStep::kMedian));
  EXPECT_THAT(ids(kPairSteps, steps_after_labels(presets::pipeline())),
              ElementsAre(PairStep::kCheck, PairStep::kInvalidation, PairStep::kSubpixel, PairStep::kMedian));
  EXPECT_THAT(ids(kLabelStages, presets::semi_global()), ElementsAre(kLabels));
  EXPECT_THAT(ids(kPairSteps, steps_after_labels(presets::semi_global())),
              ElementsAre(PairStep::kMedian, PairStep::kSmoothing))
      << "sums are judged with the labels";
}

TEST(MethodSpecCheck, StepsRefineWhatTheyAreMadeFor) {
  for (const RefineStep& step : kRefineSteps) {
    if (step.flag == nullptr) continue;
    MethodSpec planes = presets::plane_sweep(), patches = planes, pair = presets::plain_pipeline();
    set_patches(patches, true);
    pair.refine.left_right = true;
    for (MethodSpec* spec : {&planes, &patches, &pair}) spec->refine.*step.flag = true;
    EXPECT_EQ(contradiction(planes, true).empty(), step.is(kOfPlanes)) << step.word;
    EXPECT_EQ(contradiction(patches, true).empty(), step.is(kOfPatches)) << step.word;
    EXPECT_EQ(contradiction(pair, false).empty(), step.is(kOfPairs)) << step.word;
    MethodSpec fused = presets::semi_global();
    fused.refine.*step.flag = true;
    EXPECT_EQ(contradiction(fused, false).empty(), step.is(kOfPairs) && !step.is(kNeedsCosts | kNeedsCheck))
        << step.word;
    pair.refine.left_right = step.flag == &Refinement::left_right;
    EXPECT_EQ(contradiction(pair, false).empty(), step.is(kOfPairs) && !step.is(kNeedsCheck)) << step.word;
  }
}

TEST(MethodSpecCheck, SaysWhatDoesNotBelongTogether) {
  MethodSpec spec = presets::plane_sweep();
  spec.refine.prior = true;
  try {
    check(spec, true);
    ADD_FAILURE();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the step prior does not refine planes without patches"));
  }
}

}  // namespace
}  // namespace recon
