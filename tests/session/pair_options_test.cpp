// Which options belong to which work, and what they may be for rectified pairs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "session/options/device.hpp"
#include "session/options/option_use.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Job kSweepScene{Method::kPlaneSweep, false};
constexpr Job kSgmPair{Method::kSemiGlobal, true};
constexpr Job kBpPair{Method::kBeliefPropagation, true};
constexpr Job kBmPair{Method::kBlockMatching, true};
constexpr Job kPipelinePair{Method::kPipeline, true};

std::string refusal(const SessionOptions& options, const std::vector<Job>& jobs) {
  return message_of<UsageError>([&] { options.check(jobs); });
}

template <class Change>
std::string refusal(Job job, const Change& change) {
  SessionOptions options;
  change(options.pair);
  return refusal(options, {job});
}

TEST(OptionUse, RefusesWhatNoInputUses) {
  SessionOptions options;
  options.given = {"--device", "--paths"};
  EXPECT_NO_THROW(options.check({kSgmPair}));
  EXPECT_THAT(refusal(options, {kBpPair}),
              HasSubstr("--paths does not belong to --method bp; it is for planesweep, sgm, pipeline"));
  EXPECT_NO_THROW(options.check({kSweepScene, kSgmPair})) << "one of the inputs uses it";
  EXPECT_NO_THROW(options.check({kSweepScene}));
  options.optimizer = SweepOptimizer::kWinnerTakeAll;
  EXPECT_THAT(refusal(options, {kSweepScene}), HasSubstr("--paths has a meaning with --optimizer sgm only"));
  options.given = {"--views"};
  EXPECT_THAT(refusal(options, {kBmPair}), HasSubstr("--views is for scenes"));
  options.given = {"--fill"};
  EXPECT_THAT(refusal(options, {kSweepScene}), HasSubstr("--fill is for rectified pairs"));
}

TEST(OptionUse, MethodsFitTheirInputs) {
  SessionOptions options;
  EXPECT_EQ(options.method_of(true), Method::kSemiGlobal);
  EXPECT_EQ(options.method_of(false), Method::kPlaneSweep);
  EXPECT_THAT(refusal(options, {Job{Method::kPlaneSweep, true}}), HasSubstr("sgm, bp, bm or pipeline"));
  options.cost = "ssd";
  EXPECT_NO_THROW(options.check({kBmPair}));
  EXPECT_THAT(refusal(options, {kSgmPair}),
              HasSubstr("for --method sgm it can be census5x5, census9x7, rank, symmetric"));
}

TEST(OptionUse, ResolvedOptionsAreThoseOfTheJob) {
  SessionOptions options;
  options.pair.matching.semi_global.transform.transform = Transform::kCensus9x7;
  options.toml =
      "method=\"\"\nwindow=\"\"\nviews=\"*\"\ncolour=false\npaths=\"\"\nlevels=5\ndevice=\"auto\"\n";
  const std::string scene = resolved_options(options, kSweepScene),
                    pair = resolved_options(options, kSgmPair);
  EXPECT_THAT(scene, HasSubstr("device=\"auto\"\n"));
  EXPECT_THAT(scene, HasSubstr("method=\"planesweep\"\n"));
  EXPECT_THAT(scene, HasSubstr("\nwindow=5\n"));
  EXPECT_THAT(scene, HasSubstr("cost=\"zncc\"\n"));
  EXPECT_THAT(scene, HasSubstr("p2=120\n")) << "its own default";
  options.optimizer = SweepOptimizer::kWinnerTakeAll;
  EXPECT_THAT(resolved_options(options, kSweepScene), Not(HasSubstr("p2="))) << "nothing is penalised";
  EXPECT_THAT(scene, Not(HasSubstr("levels")));
  EXPECT_THAT(pair, HasSubstr("method=\"sgm\"\n"));
  EXPECT_THAT(pair, HasSubstr("cost=\"census9x7\"\n"));
  EXPECT_THAT(pair, HasSubstr("paths=8\n"));
  for (const char* other : {"views", "colour", "levels", "window"}) EXPECT_THAT(pair, Not(HasSubstr(other)));
}

TEST(Sweeps, HaveStagesThatNeedNoSecondView) {
  SessionOptions options;
  options.optimizer = SweepOptimizer::kWinnerTakeAll;
  options.given = {"--aggregation", "--refine", "--p1"};
  options.aggregation = "cross", options.sweep_stages.aggregation.kind = Aggregation::kCrossBased;
  EXPECT_THAT(refusal(options, {kSweepScene}),
              HasSubstr("--p1 has a meaning with --optimizer sgm or graphcut only"));
  options.refinement = "graphcut", options.sweep_stages.graph_cut = true;
  EXPECT_NO_THROW(options.check({kSweepScene}));
  options.toml = "aggregation=\"cross\"\nrefine=\"graphcut\"\n";
  const std::string resolved = resolved_options(options, kSweepScene);
  for (const char* line : {"aggregation=\"cross\"\n", "refine=\"graphcut\"\n", "optimizer=\"winner\"\n",
                           "p1=20\n", "p2=40\n", "p2-falloff=16\n"})
    EXPECT_THAT(resolved, HasSubstr(line));
  EXPECT_THAT(resolved, Not(HasSubstr("paths")));
  options.refinement = "edges", options.sweep_stages.graph_cut = false, options.sweep_stages.edges = true;
  EXPECT_THAT(refusal(options, {kSweepScene}),
              HasSubstr("--refine edges has a meaning with --optimizer sgm or graphcut"));
  options.refinement = "graphcut,lr";
  EXPECT_THAT(refusal(options, {kSweepScene}),
              HasSubstr("for --method planesweep it can be none, or a list of graphcut and edges"));
  options.refinement = {};
  options.optimizer_keyword = "scanline";
  EXPECT_THAT(
      refusal(options, {kSweepScene}),
      HasSubstr("--optimizer is 'scanline'; for --method planesweep it can be graphcut, sgm, winner"));
}

TEST(PairSettings, RangesAreChecked) {
  const auto range = [](int min, int max) {
    return [min, max](PairSettings& pair) { pair.min_disparity = min, pair.max_disparity = max; };
  };
  SessionOptions options;
  options.pair.min_disparity = -64, options.pair.max_disparity = 0;
  EXPECT_NO_THROW(options.check({kSgmPair}));
  const PairOptions resolved = options.pair.resolved(Method::kBlockMatching, -64, 0);
  EXPECT_EQ(resolved.method, PairMethod::kBlockMatching);
  EXPECT_EQ(resolved.range.min, -64);
  EXPECT_EQ(resolved.range.count, 64);
  EXPECT_THAT(refusal(kSgmPair, range(5, 5)), HasSubstr("--min-disparity is 5 and --max-disparity 5"));
  EXPECT_THAT(refusal(kSgmPair, range(9, 5)), HasSubstr("min <= d < max"));
  EXPECT_THAT(refusal(kSgmPair, range(0, 5000)), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal(kSgmPair, range(-2000000, 5)), HasSubstr("--min-disparity is -2000000"));
}

TEST(PairSettings, ValuesOfTheMethodAreChecked) {
  const auto sgm = [](auto change) {
    return [change](PairSettings& pair) { change(pair.matching.semi_global); };
  };
  EXPECT_THAT(refusal(kSgmPair, sgm([](auto& o) { o.optimizer.paths = 5; })), HasSubstr("4 or 8"));
  EXPECT_THAT(refusal(kSgmPair, sgm([](auto& o) { o.optimizer.p1 = -1; })), HasSubstr("--p1 is -1"));
  EXPECT_THAT(refusal(kSgmPair, sgm([](auto& o) { o.optimizer.p1 = 70, o.optimizer.p2 = 60; })),
              HasSubstr("--p2 is 60 and --p1 70"));
  EXPECT_THAT(refusal(kSgmPair, sgm([](auto& o) { o.optimizer.p2 = 8191; })), HasSubstr("--p2 is 8191"));
  EXPECT_THAT(refusal(kSgmPair, sgm([](auto& o) { o.transform.rank_window = 8; })),
              HasSubstr("it must be odd"));
  EXPECT_THAT(refusal(kSgmPair, sgm([](auto& o) { o.uniqueness = 100; })), HasSubstr("--uniqueness"));
  EXPECT_THAT(refusal(kBpPair, [](auto& p) { p.matching.belief.levels = 0; }), HasSubstr("--levels is 0"));
  EXPECT_THAT(refusal(kBmPair, [](auto& p) { p.matching.block.steps_per_pixel = 3; }),
              HasSubstr("1, 2 or 4"));
  EXPECT_THAT(refusal(kBmPair, [](auto& p) { p.matching.block.radius = 16; }), HasSubstr("--window is 33"));
  EXPECT_THAT(refusal(kBmPair, [](auto& p) { p.matching.block.radius = 0; }), HasSubstr("--window is 1"));
}

TEST(Pipelines, AreChosenByWhatOnlyTheyHave) {
  SessionOptions options;
  options.cost = "rank";
  EXPECT_EQ(options.method_of(true), Method::kSemiGlobal);
  options.cost = "ad";
  EXPECT_EQ(options.method_of(true), Method::kPipeline);
  EXPECT_EQ(options.method_of(false), Method::kPlaneSweep);
  options.cost = {};
  options.optimizer_keyword = "sgm";
  EXPECT_EQ(options.method_of(true), Method::kSemiGlobal);
  options.optimizer_keyword = "scanline";
  EXPECT_EQ(options.method_of(true), Method::kPipeline);
  options.optimizer_keyword = {};
  options.preset = "ad-census";
  EXPECT_EQ(options.method_of(false), Method::kPipeline);
  EXPECT_TRUE(options.in_colour({Method::kPipeline, false}));
  EXPECT_FALSE(options.in_colour(kSweepScene));
  options.method = Method::kBlockMatching;
  EXPECT_EQ(options.method_of(true), Method::kBlockMatching);
}

TEST(Pipelines, RefinementsAreLists) {
  for (const char* list :
       {"none", "lr", "graphcut,lr,vote,interpolate,edges,subpixel,median", "edges,median"})
    EXPECT_EQ(format_refinement(parse_refinement(list)), list);
  EXPECT_EQ(format_refinement(parse_refinement("median,lr,lr")), "lr,median");
  for (const char* wrong : {"", "lr,", ",", "lr median", "LR", "interpolate", "none,lr"})
    EXPECT_THROW(parse_refinement(wrong), UsageError) << wrong;
}

TEST(Pipelines, PenaltiesAreWholeStepsOfTheCost) {
  for (const auto& [word, optimizer, p1, p2] :
       {std::tuple{"census5x5", PipelineOptimizer::kSemiGlobal, 6, 40},
        {"ad-census", PipelineOptimizer::kScanline, 100, 300},
        {"ad", PipelineOptimizer::kGraphCut, 3, 6}}) {
    PipelineOptions pipeline;
    set_pipeline_cost(pipeline, word);
    pipeline.optimizer = optimizer;
    set_pipeline_penalties(pipeline, {}, {}, {});
    EXPECT_EQ(pipeline_penalties(pipeline).p1, p1) << word;
    EXPECT_EQ(pipeline_penalties(pipeline).p2, p2) << word;
    set_pipeline_penalties(pipeline, 7, 35, {});
    EXPECT_EQ(pipeline_penalties(pipeline).p1, 7) << word;
    EXPECT_EQ(pipeline_penalties(pipeline).p2, 35) << word;
    set_pipeline_penalties(pipeline, 7, 6, {});
    EXPECT_THROW(check_pipeline(pipeline), UsageError) << word;
  }
  PipelineOptions pipeline = preset_pipeline("ad-census");
  EXPECT_FLOAT_EQ(pipeline.scanline.p1, ScanlineOptions().p1);
  set_pipeline_penalties(pipeline, 50, {}, {});
  EXPECT_FLOAT_EQ(pipeline.scanline.p1, 0.5f);
  EXPECT_FLOAT_EQ(pipeline.scanline.p2, ScanlineOptions().p2);
  pipeline.optimizer = PipelineOptimizer::kGraphCut;
  set_pipeline_penalties(pipeline, 40, 130, 9);
  EXPECT_FLOAT_EQ(pipeline.graph_cut.smoothness, 0.4f);
  EXPECT_EQ(pipeline.graph_cut.smoothness_cap, 3);
  EXPECT_EQ(pipeline.graph_cut.edge_falloff, 9);
}

TEST(Pipelines, OptionsWithoutEffectAreRefused) {
  SessionOptions options;
  PipelineOptions& pipeline = options.pair.matching.pipeline;
  options.given = {"--paths"};
  EXPECT_NO_THROW(options.check({kPipelinePair}));
  pipeline.optimizer = PipelineOptimizer::kScanline;
  EXPECT_THAT(refusal(options, {kPipelinePair}),
              HasSubstr("--paths has a meaning with --optimizer sgm only"));
  EXPECT_NO_THROW(options.check({kPipelinePair, kSgmPair})) << "one of the inputs uses it";
  options.given = {"--window"};
  EXPECT_THAT(refusal(options, {kPipelinePair}), HasSubstr("--aggregation cw or aw"));
  pipeline.aggregation.kind = Aggregation::kAdaptiveWeight;
  EXPECT_NO_THROW(options.check({kPipelinePair}));
  options.given = {"--p1"};
  pipeline.optimizer = PipelineOptimizer::kWinnerTakeAll;
  EXPECT_THAT(refusal(options, {kPipelinePair}), HasSubstr("where steps are penalised"));
  pipeline.refinement.graph_cut = true;
  EXPECT_NO_THROW(options.check({kPipelinePair}));
}

TEST(Pipelines, ThatFillLeaveNoHoles) {
  PairSettings settings;
  EXPECT_EQ(settings.min_patch(Method::kSemiGlobal), 60);
  EXPECT_EQ(settings.min_patch(Method::kPipeline), 60);
  settings.matching.pipeline = preset_pipeline("ad-census");
  EXPECT_EQ(settings.min_patch(Method::kPipeline), 0);
  settings.speckle = 5;
  EXPECT_EQ(settings.min_patch(Method::kPipeline), 5);
}

TEST(PairSettings, ReadRegions) {
  const Region region = parse_region("3,4,50,60");
  EXPECT_EQ(region.x, 3);
  EXPECT_EQ(region.y, 4);
  EXPECT_EQ(region.width, 50);
  EXPECT_EQ(region.height, 60);
  EXPECT_EQ(format_region(region), "3,4,50,60");
  EXPECT_EQ(format_region({}), "");
  for (const char* wrong : {"", "1,2,3", "1,2,3,4,5", "1,2,0,4", "-1,2,3,4", "a,b,c,d", "1,2,3,4x"})
    EXPECT_THROW(parse_region(wrong), UsageError) << wrong;
}

}  // namespace
}  // namespace recon
