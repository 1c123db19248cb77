// Which options belong to which work, and what they may be for rectified pairs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "methods/presets.hpp"
#include "session/options/option_text.hpp"
#include "session/options/pipeline_settings.hpp"

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

/// What is said to options that are given, by their parser or the check of the jobs.
std::string refusal_of(const GivenOptions& given, const std::vector<Job>& jobs) {
  return message_of<UsageError>([&] { parse_options(given).check(jobs); });
}

const std::string kAccepted = "(nothing thrown)";

template <class Change>
std::string refusal(Job job, const Change& change) {
  SessionOptions options;
  change(options.pair);
  return refusal(options, {job});
}

TEST(OptionUse, RefusesWhatNoInputUses) {
  const GivenOptions paths = {{"device", {"cpu"}}, {"paths", {"8"}}};
  EXPECT_EQ(refusal_of(paths, {kSgmPair}), kAccepted);
  EXPECT_EQ(refusal_of(paths, {kBpPair}),
            "--paths does not belong to --method bp; it is for planesweep, sgm, pipeline");
  EXPECT_EQ(refusal_of(paths, {kSweepScene, kSgmPair}), kAccepted) << "one of the inputs uses it";
  EXPECT_EQ(refusal_of(paths, {kSweepScene}), kAccepted);
  EXPECT_EQ(refusal_of({{"paths", {"8"}}, {"optimizer", {"winner"}}}, {kSweepScene}),
            "--paths has a meaning with --optimizer sgm only");
  EXPECT_THAT(refusal_of({{"views", {"a*"}}}, {kBmPair}), HasSubstr("--views is for scenes"));
  EXPECT_EQ(refusal_of({{"roi", {"0,0,9,9"}}}, {kSgmPair}), "--roi of a rectified pair needs --method bm");
  EXPECT_THAT(refusal_of({{"fill", {"true"}}}, {kSweepScene}), HasSubstr("--fill is for rectified pairs"));
}

TEST(OptionUse, MethodsFitTheirInputs) {
  EXPECT_EQ(SessionOptions().method_of(true), Method::kSemiGlobal);
  EXPECT_EQ(SessionOptions().method_of(false), Method::kPlaneSweep);
  EXPECT_THAT(refusal(SessionOptions(), {Job{Method::kPlaneSweep, true}}),
              HasSubstr("sgm, bp, bm or pipeline"));
  EXPECT_EQ(refusal_of({{"cost", {"ssd"}}}, {kBmPair}), kAccepted);
  EXPECT_EQ(refusal_of({{"cost", {"ssd"}}}, {kSgmPair}),
            "--cost is 'ssd'; for --method sgm it can be census, census5x5, census9x7, rank or symmetric");
  EXPECT_EQ(refusal_of({{"cost", {"sd"}}}, {kSgmPair}),
            "--cost is 'sd'; it can be sad, zncc, census, census5x5, census9x7, rank, symmetric, ssd, ad or "
            "ad-census");
}

TEST(OptionUse, ResolvedOptionsAreThoseOfTheJob) {
  SessionOptions options = parse_options({{"stage", {"estimate"}}, {"shard", {"1/2"}}});
  options.use(Method::kSemiGlobal).cost.transform.transform = Transform::kCensus9x7;
  const std::string scene = options.resolved(kSweepScene), pair = options.resolved(kSgmPair);
  EXPECT_THAT(scene, HasSubstr("device=\"auto\"\n"));
  EXPECT_THAT(scene, HasSubstr("method=\"planesweep\"\n"));
  EXPECT_THAT(scene, HasSubstr("\nwindow=5\n"));
  EXPECT_THAT(scene, HasSubstr("cost=\"zncc\"\n"));
  EXPECT_THAT(scene, HasSubstr("p2=120\n")) << "its own default";
  EXPECT_THAT(scene, HasSubstr("\nspeckle=20\n"));
  EXPECT_THAT(scene, HasSubstr("\ncolour=false\n"));
  for (const char* other : {"levels", "stage", "shard", "\nfill=", "depth-min", "preset", "aw-", "threads"})
    EXPECT_THAT(scene, Not(HasSubstr(other)));
  EXPECT_THAT(pair, HasSubstr("method=\"sgm\"\n"));
  EXPECT_THAT(pair, HasSubstr("cost=\"census9x7\"\n"));
  EXPECT_THAT(pair, HasSubstr("paths=8\n"));
  EXPECT_THAT(pair, HasSubstr("\nspeckle=60\n"));
  for (const char* other : {"views", "colour", "levels", "\nwindow"})
    EXPECT_THAT(pair, Not(HasSubstr(other)));
  options.use(Method::kPlaneSweep).optimizer = Optimizer::kWinnerTakeAll;
  EXPECT_THAT(options.resolved(kSweepScene), Not(HasSubstr("p2="))) << "nothing is penalised";
}

/// Parts of one run may work on other devices, on other views.
TEST(OptionUse, ResultsDoNotDependOnWhereTheyAreComputed) {
  const GivenOptions given = {
      {"device", {"cpu"}}, {"views", {"a*"}}, {"output", {"out"}}, {"sources", {"3"}}};
  const std::string all = parse_options(given).resolved(kSweepScene),
                    results = parse_options(given).resolved(kSweepScene, OptionScope::kResults);
  EXPECT_THAT(all, Not(HasSubstr("output="))) << "another scene may run with them";
  for (const char* line : {"device=\"cpu\"\n", "views=\"a*\"\n"}) {
    EXPECT_THAT(all, HasSubstr(line));
    EXPECT_THAT(results, Not(HasSubstr(line)));
  }
  EXPECT_THAT(results, HasSubstr("sources=3\n"));
}

TEST(LoneDepths, AreKeptUnlessMoreViewsAreAskedFor) {
  struct Limits {
    float check, fusion;
    bool operator==(const Limits&) const = default;
  };
  const auto limits = [](const GivenOptions& given) {
    const SessionOptions options = parse_options(given);
    return Limits{options.check_consistency(kSweepScene).min_lone_confidence,
                  options.fusion_consistency(kSweepScene).min_lone_confidence};
  };
  EXPECT_EQ(limits({{"min-lone-confidence", {"0.75"}}}), (Limits{0.75f, 0.75f}));
  EXPECT_EQ(limits({}), (Limits{kDefaultMinLoneReliability, kDefaultMinLoneReliability}));
  EXPECT_EQ(limits({{"min-views", {"2"}}}), (Limits{1, 1}));
  EXPECT_EQ(limits({{"min-fused-views", {"3"}}}), (Limits{kDefaultMinLoneReliability, 1}));
  EXPECT_EQ(limits({{"refine", {"none"}}}), (Limits{1, 1})) << "has no reliability";
}

TEST(NormalsThatAgree, DifferLessWithPatches) {
  const auto angles = [](const GivenOptions& given) {
    const SessionOptions options = parse_options(given);
    EXPECT_EQ(options.fusion_consistency(kSweepScene).max_angle_degrees,
              options.check_consistency(kSweepScene).max_angle_degrees);
    return options.check_consistency(kSweepScene).max_angle_degrees;
  };
  EXPECT_EQ(angles({}), 30);
  EXPECT_EQ(angles({{"refine", {"none"}}}), 60);
  EXPECT_EQ(angles({{"max-normal-angle", {"70"}}}), 70);
  EXPECT_EQ(angles({{"refine", {"none"}}, {"max-normal-angle", {"70"}}}), 70);
  const auto follow_noise = [](const GivenOptions& given) {
    return parse_options(given).fusion_consistency(kSweepScene).angle_follows_noise;
  };
  EXPECT_TRUE(follow_noise({}));
  EXPECT_FALSE(follow_noise({{"max-normal-angle", {"30"}}})) << "what is given is the limit";
  EXPECT_FALSE(follow_noise({{"refine", {"none"}}}));
}

TEST(Sweeps, HaveStagesThatNeedNoSecondView) {
  const GivenOptions winner = {
      {"optimizer", {"winner"}}, {"aggregation", {"cross"}}, {"refine", {"none"}}, {"p1", {"20"}}};
  const auto refined = [&](const char* list) {
    GivenOptions given = winner;
    given["refine"] = {list};
    return given;
  };
  EXPECT_EQ(refusal_of(winner, {kSweepScene}), "--p1 has a meaning with --optimizer sgm or graphcut only");
  EXPECT_EQ(refusal_of(refined("graphcut"), {kSweepScene}), kAccepted);
  EXPECT_EQ(refusal_of({{"refine", {"none"}}, {"max-hole", {"4"}}}, {kSweepScene}),
            "--max-hole has a meaning with --refine patches only");
  EXPECT_EQ(refusal_of({{"max-hole", {"4"}}}, {kSweepScene}), kAccepted);
  EXPECT_EQ(refusal_of({{"refine", {"none"}}, {"min-lone-confidence", {"0.9"}}}, {kSweepScene}),
            "--min-lone-confidence has a meaning with --refine patches only");
  EXPECT_EQ(refusal_of({{"min-lone-confidence", {"0.9"}}}, {kSweepScene}), kAccepted);
  EXPECT_EQ(refusal_of({{"min-lone-confidence", {"0.9"}}, {"min-views", {"2"}}}, {kSweepScene}), kAccepted)
      << "the options of an earlier run with one more view";
  const SessionOptions options = parse_options(refined("graphcut"));
  const std::string resolved = options.resolved(kSweepScene);
  for (const char* line : {"aggregation=\"cross\"\n", "refine=\"graphcut\"\n", "optimizer=\"winner\"\n",
                           "p1=20\n", "p2=40\n", "p2-falloff=16\n"})
    EXPECT_THAT(resolved, HasSubstr(line));
  EXPECT_THAT(resolved, Not(HasSubstr("paths")));
  EXPECT_THAT(refusal_of({{"optimizer", {"winner"}}, {"refine", {"edges"}}}, {kSweepScene}),
              HasSubstr("--refine edges has a meaning with --optimizer sgm or graphcut"));
  EXPECT_THAT(
      refusal_of(refined("graphcut,lr"), {kSweepScene}),
      HasSubstr(
          "for --method planesweep it can be none, or a list of graphcut, edges, patches, smooth and prior"));
  EXPECT_EQ(refusal_of({{"optimizer", {"scanline"}}}, {kSweepScene}),
            "--optimizer is 'scanline'; for --method planesweep it can be graphcut, sgm or winner");
}

TEST(Sweeps, RefinePatchesUnlessPlanesOrStagesAreGiven) {
  const auto patches = [](const GivenOptions& given) {
    const SessionOptions options = parse_options(given);
    const std::string resolved = options.resolved(kSweepScene);
    const Refinement& steps = options.sweep().refine;
    const bool refined = has_patches(options.sweep());
    EXPECT_THAT(resolved, HasSubstr(steps.prior ? "refine=\"edges,patches,smooth,prior\"\n"
                                    : refined   ? "refine=\"patches\"\n"
                                                : "refine="));
    EXPECT_EQ(steps.prior, refined && !given.contains("refine")) << resolved;
    EXPECT_TRUE(steps.patch_edges || !steps.prior) << resolved;
    return refined;
  };
  EXPECT_TRUE(patches({}));
  for (const auto& [name, value] : {std::pair{"sources", "3"},
                                    {"planes", "auto"},
                                    {"p1", "20"},
                                    {"cost", "zncc"},
                                    {"window", "7"},
                                    {"refine", "patches"}})
    EXPECT_TRUE(patches({{name, {value}}})) << name;
  for (const auto& [name, value] : {std::pair{"planes", "64"},
                                    {"optimizer", "sgm"},
                                    {"aggregation", "none"},
                                    {"refine", "none"},
                                    {"refine", "edges"},
                                    {"cost", "sad"}})
    EXPECT_FALSE(patches({{name, {value}}})) << name;
  EXPECT_TRUE(patches({{"planes", {"64"}}, {"refine", {"patches"}}}));
  const MethodSpec moved = parse_options({{"optimizer", {"winner"}}, {"refine", {"edges,patches"}}}).sweep();
  EXPECT_TRUE(has_patches(moved) && moved.refine.patch_edges && !needs_volume(moved));
  EXPECT_EQ(moved.coarsest, Optimizer::kWinnerTakeAll);
  EXPECT_EQ(refusal_of({{"cost", {"sad"}}, {"refine", {"patches"}}}, {kSweepScene}),
            "--refine patches works with --cost zncc");
  EXPECT_EQ(refusal_of({{"refine", {"prior"}}}, {kSweepScene}),
            "--refine prior needs patches: patches,prior");
  EXPECT_TRUE(parse_options({{"refine", {"prior,patches"}}}).sweep().refine.prior);
  EXPECT_EQ(refusal_of({{"method", {"pipeline"}}, {"refine", {"lr,patches"}}}, {kPipelinePair}),
            "--refine is 'lr,patches'; patches and prior belong to --method planesweep");
}

TEST(Sweeps, KeepTheRatioOfTheCutsPenalties) {
  const auto cut = [](GivenOptions given) {
    given["optimizer"] = {"graphcut"};
    return penalties_of(parse_options(given).sweep());
  };
  EXPECT_EQ(cut({{"p1", {"30"}}}).p2, 60);
  EXPECT_EQ(cut({{"p2", {"80"}}}).p2, 80);
  EXPECT_EQ(cut({{"p1", {"30"}}, {"p2", {"90"}}}).p2, 90);
  EXPECT_EQ(cut({{"p2-falloff", {"3"}}}).falloff, 3);
  const auto pipeline = [](const char* p1) {
    return penalties_of(parse_options({{"method", {"pipeline"}}, {"optimizer", {"graphcut"}}, {"p1", {p1}}})
                            .spec(Method::kPipeline));
  };
  EXPECT_EQ(pipeline("40").p2, 2 * pipeline("20").p2);
  EXPECT_GE(pipeline("20").p2, 20);
}

TEST(PairSettings, RangesAreChecked) {
  const auto range = [](int min, int max) {
    return [min, max](PairSettings& pair) { pair.min_disparity = min, pair.max_disparity = max; };
  };
  SessionOptions options;
  options.pair.min_disparity = -64, options.pair.max_disparity = 0;
  EXPECT_NO_THROW(options.check({kSgmPair}));
  EXPECT_THAT(refusal(kSgmPair, range(5, 5)), HasSubstr("--min-disparity is 5 and --max-disparity 5"));
  EXPECT_THAT(refusal(kSgmPair, range(9, 5)), HasSubstr("min <= d < max"));
  EXPECT_THAT(refusal(kSgmPair, range(0, 5000)), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal(kSgmPair, range(-2000000, 5)), HasSubstr("--min-disparity is -2000000"));
}

TEST(PairSettings, ValuesOfTheMethodAreChecked) {
  const auto changed = [](Job job, const auto& change) {
    SessionOptions options;
    change(options.use(job.method));
    return refusal(options, {job});
  };
  EXPECT_THAT(changed(kSgmPair, [](auto& o) { o.semi_global.paths = 5; }), HasSubstr("4 or 8"));
  EXPECT_THAT(changed(kSgmPair, [](auto& o) { o.semi_global.p1 = -1; }), HasSubstr("--p1 is -1"));
  EXPECT_THAT(changed(kSgmPair, [](auto& o) { o.semi_global.p1 = 70, o.semi_global.p2 = 60; }),
              HasSubstr("--p2 is 60 and --p1 70"));
  EXPECT_THAT(changed(kSgmPair, [](auto& o) { o.semi_global.p2 = 8191; }), HasSubstr("--p2 is 8191"));
  EXPECT_THAT(changed(kSgmPair, [](auto& o) { o.cost.transform.rank_window = 8; }),
              HasSubstr("it must be odd"));
  EXPECT_THAT(changed(kSgmPair, [](auto& o) { o.uniqueness = 100; }), HasSubstr("--uniqueness"));
  EXPECT_THAT(changed(kBpPair, [](auto& o) { o.belief.levels = 0; }), HasSubstr("--levels is 0"));
  EXPECT_THAT(changed(kBmPair, [](auto& o) { o.block.steps_per_pixel = 3; }), HasSubstr("1, 2 or 4"));
  EXPECT_THAT(changed(kBmPair, [](auto& o) { o.block.radius = 16; }), HasSubstr("--window is 33"));
  EXPECT_THAT(changed(kBmPair, [](auto& o) { o.block.radius = 0; }), HasSubstr("--window is 1"));
}

TEST(Pipelines, AreChosenByWhatOnlyTheyHave) {
  const auto method = [](const GivenOptions& given, bool pair) {
    return parse_options(given).method_of(pair);
  };
  EXPECT_EQ(method({{"cost", {"rank"}}}, true), Method::kSemiGlobal);
  EXPECT_EQ(method({{"cost", {"ad"}}}, true), Method::kPipeline);
  EXPECT_EQ(method({{"cost", {"ad"}}}, false), Method::kPlaneSweep);
  EXPECT_EQ(method({{"optimizer", {"sgm"}}}, true), Method::kSemiGlobal);
  EXPECT_EQ(method({{"optimizer", {"scanline"}}}, true), Method::kPipeline);
  EXPECT_EQ(method({{"refine", {"none"}}}, true), Method::kPipeline);
  EXPECT_EQ(method({{"aggregation", {"none"}}}, true), Method::kPipeline);
  EXPECT_EQ(method({{"preset", {"ad-census"}}}, false), Method::kPipeline);
  EXPECT_EQ(method({{"preset", {"ad-census"}}, {"method", {"bm"}}}, true), Method::kBlockMatching);
  EXPECT_TRUE(SessionOptions().in_colour({Method::kPipeline, false}));
  EXPECT_FALSE(SessionOptions().in_colour(kSweepScene));
}

TEST(Pipelines, APresetYieldsToTheStagesThatAreGiven) {
  const MethodSpec pipeline =
      parse_options({{"preset", {"ad-census"}}, {"cost", {"ad"}}, {"arm-length", {"5"}}})
          .spec(Method::kPipeline);
  EXPECT_EQ(pipeline.cost.kind, CostKind::kColourDifference);
  EXPECT_EQ(pipeline.aggregation.cross.reach, 6);
  EXPECT_EQ(pipeline.optimizer, Optimizer::kScanline);
  EXPECT_EQ(format_steps(steps_of(pipeline)), "lr,vote,interpolate,edges,subpixel,median");
}

TEST(Pipelines, RefinementsAreLists) {
  for (const char* list :
       {"none", "lr", "graphcut,lr,vote,interpolate,edges,subpixel,median", "edges,median"})
    EXPECT_EQ(format_steps(parse_steps(list)), list);
  EXPECT_EQ(format_steps(parse_steps("median,lr,lr")), "lr,median");
  for (const char* wrong : {"", "lr,", ",", "lr median", "LR", "interpolate", "none,lr"})
    EXPECT_THROW(parse_steps(wrong), UsageError) << wrong;
}

TEST(Pipelines, PenaltiesAreWholeStepsOfTheCost) {
  const auto penalties = [](const GivenOptions& given) {
    return penalties_of(parse_options(given).spec(Method::kPipeline));
  };
  for (const auto& [cost, optimizer, p1, p2] : {std::tuple{"census5x5", "sgm", 6, 40},
                                                {"ad-census", "scanline", 100, 300},
                                                {"ad", "graphcut", 3, 6}}) {
    GivenOptions given = {{"cost", {cost}}, {"optimizer", {optimizer}}};
    EXPECT_EQ(penalties(given).p1, p1) << cost;
    EXPECT_EQ(penalties(given).p2, p2) << cost;
    given["p1"] = {"7"}, given["p2"] = {"35"};
    EXPECT_EQ(penalties(given).p1, 7) << cost;
    EXPECT_EQ(penalties(given).p2, 35) << cost;
    given["p2"] = {"6"};
    EXPECT_THAT(refusal_of(given, {kPipelinePair}),
                HasSubstr("a large step must not be cheaper than a small one"));
  }
  EXPECT_EQ(penalties({{"cost", {"rank"}}, {"rank-window", {"3"}}}).p1, 2);
  const auto pipeline = [](const GivenOptions& given) {
    return parse_options(given).spec(Method::kPipeline);
  };
  EXPECT_FLOAT_EQ(pipeline({{"preset", {"ad-census"}}}).scanline.p1, ScanlineOptions().p1);
  const MethodSpec lower = pipeline({{"preset", {"ad-census"}}, {"p1", {"50"}}});
  EXPECT_FLOAT_EQ(lower.scanline.p1, 0.5f);
  EXPECT_FLOAT_EQ(lower.scanline.p2, ScanlineOptions().p2);
  const MethodSpec cut = pipeline({{"preset", {"ad-census"}},
                                   {"optimizer", {"graphcut"}},
                                   {"p1", {"40"}},
                                   {"p2", {"130"}},
                                   {"p2-falloff", {"9"}}});
  EXPECT_FLOAT_EQ(cut.graph_cut.smoothness, 0.4f);
  EXPECT_EQ(cut.graph_cut.smoothness_cap, 3);
  EXPECT_EQ(cut.graph_cut.edge_falloff, 9);
}

TEST(Pipelines, OptionsWithoutEffectAreRefused) {
  const auto with = [](const char* name, const char* value, GivenOptions given) {
    given[name] = {value};
    return refusal_of(given, {kPipelinePair});
  };
  EXPECT_EQ(with("paths", "4", {}), kAccepted);
  EXPECT_EQ(with("paths", "4", {{"optimizer", {"scanline"}}}),
            "--paths has a meaning with --optimizer sgm only");
  EXPECT_EQ(refusal_of({{"paths", {"4"}}, {"aggregation", {"none"}}}, {kPipelinePair, kSweepScene}),
            kAccepted)
      << "one of the inputs uses it";
  EXPECT_THAT(with("window", "5", {}), HasSubstr("--aggregation cw or aw"));
  EXPECT_EQ(with("window", "5", {{"aggregation", {"aw"}}}), kAccepted);
  EXPECT_THAT(with("window", "131", {{"aggregation", {"aw"}}}), HasSubstr("between 1 and 129"));
  EXPECT_THAT(with("p1", "5", {{"optimizer", {"winner"}}}), HasSubstr("where steps are penalised"));
  EXPECT_EQ(with("p1", "5", {{"optimizer", {"winner"}}, {"refine", {"graphcut"}}, {"p2", {"9"}}}), kAccepted);
  EXPECT_THAT(with("p2-falloff", "5", {{"optimizer", {"scanline"}}}), HasSubstr("sgm or graphcut only"));
  EXPECT_THAT(with("rank-window", "5", {}), HasSubstr("--cost rank only"));
  EXPECT_THAT(with("left-right", "1", {{"refine", {"none"}}}), HasSubstr("--refine lr only"));
  EXPECT_THAT(with("arm-length", "5", {}), HasSubstr("--aggregation cross, or --refine vote, only"));
  EXPECT_EQ(with("arm-length", "5", {{"refine", {"lr,vote"}}}), kAccepted);
  EXPECT_THAT(with("cross-iterations", "2", {{"refine", {"lr,vote"}}}),
              HasSubstr("--aggregation cross only"));
  EXPECT_THAT(with("aw-space", "2", {{"aggregation", {"cross"}}}), HasSubstr("--aggregation aw only"));
}

TEST(Pipelines, ThatFillLeaveNoHoles) {
  SessionOptions settings;
  EXPECT_EQ(settings.min_patch(Method::kSemiGlobal), 60);
  EXPECT_EQ(settings.min_patch(Method::kPipeline), 60);
  settings.use(Method::kPipeline) = presets::named_ad_census();
  EXPECT_EQ(settings.min_patch(Method::kPipeline), 0);
  settings.pair.speckle = 5;
  EXPECT_EQ(settings.min_patch(Method::kPipeline), 5);
}

TEST(PairSettings, ReadRegions) {
  const auto parse_region = [](const char* text) {
    return parse_options({{"roi", {text}}}).spec(Method::kBlockMatching).block.region;
  };
  const Region region = parse_region("3,4,50,60");
  EXPECT_EQ(region.x, 3);
  EXPECT_EQ(region.y, 4);
  EXPECT_EQ(region.width, 50);
  EXPECT_EQ(region.height, 60);
  EXPECT_EQ(format_region(region), "3,4,50,60");
  EXPECT_EQ(format_region({}), "");
  for (const char* wrong : {"", "1,2,3", "1,2,3,4,5", "1,2,0,4", "-1,2,3,4", "1.5,2,3,4", "a,b,c,d",
                            "1,2,3,4x", "1,2,3,4,", "1,2,,4"})
    EXPECT_THROW(parse_region(wrong), UsageError) << wrong;
}

TEST(SceneOptions, ReadBoxes) {
  const auto parse_box = [](const char* text) { return *parse_options({{"roi", {text}}}).cloud.roi; };
  const SceneBox box = parse_box("-1.5,2,3e2,1,2.25,301");
  EXPECT_TRUE(box.contains({-1.5, 2, 300}) && box.contains({1, 2.25, 301}) && box.contains({0, 2.1, 300.5}));
  for (const Vec3d outside : {Vec3d{-1.6, 2.1, 300.5}, Vec3d{1.1, 2.1, 300.5}, Vec3d{0, 1.9, 300.5},
                              Vec3d{0, 2.3, 300.5}, Vec3d{0, 2.1, 299}, Vec3d{0, 2.1, 302}})
    EXPECT_FALSE(box.contains(outside)) << outside.x << ' ' << outside.y << ' ' << outside.z;
  for (const char* wrong : {"1,2,3,1,5,6", "4,2,3,1,5,6", "0,0,0,1,0,1", "0,0,0,1,1,-1", "0,0,0,1,1,inf",
                            "nan,0,0,1,1,1", "0,0,0,1,1,1e999", "0,0,0,1,1", "0,0,0,1,1,1,1", "0,0,0,1,1,x"})
    EXPECT_THROW(parse_box(wrong), UsageError) << wrong;
  const SessionOptions options = parse_options({{"roi", {"-1.5,2,3e2,1,2.25,301"}}});
  EXPECT_NE(options.resolved({Method::kPlaneSweep, false}).find("roi=\"-1.5,2,300,1,2.25,301\"\n"),
            std::string::npos);
}

}  // namespace
}  // namespace recon
