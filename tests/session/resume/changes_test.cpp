// Why finished work is done again: in the words of the command line, and with the names of views.

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "session/options/option.hpp"
#include "session/resume/result_store.hpp"
#include "session/scene/scene_steps.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture
using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string describe_change(const json& found, const json& wanted) {
  return in_one_line(list_changes(found, wanted));
}

TEST(Changes, NameOptionsWithBothValues) {
  const auto of = [](const json& found, const json& wanted) {
    return describe_change({{"options", found}}, {{"options", wanted}});
  };
  EXPECT_EQ(of({{"planes", "128"}}, {{"planes", "128"}}), "");
  EXPECT_EQ(of({{"planes", "128"}, {"paths", "8"}}, {{"planes", "64"}, {"paths", "8"}}),
            "--planes 128 -> 64");
  EXPECT_EQ(of({{"max-cost", "0.5"}}, {{"max-cost", "0.8"}}), "--max-cost 0.5 -> 0.8");
  EXPECT_EQ(of({{"paths", "8"}}, {{"paths", "8"}, {"tile", "2.5"}}), "--tile none -> 2.5");
  EXPECT_EQ(of({{"method", "sgm"}, {"paths", "8"}}, {{"method", "bm"}, {"cost", "sad"}}),
            "--method sgm -> bm");
  EXPECT_EQ(of({{"p1", "9"}, {"window", "5"}}, {{"p1", "8"}, {"window", "7"}}),
            "--window 5 -> 7, --p1 9 -> 8");
  EXPECT_EQ(
      of({{"planes", "24"}, {"refine", "none"}, {"optimizer", "sgm"}},
         {{"refine", "patches"}, {"quality", "normal"}, {"optimizer", "winner"}}),
      "--optimizer sgm -> winner, --planes 24 -> none, --refine none -> patches, --quality none -> normal")
      << "what the others follow from first";
  EXPECT_EQ(
      describe_change({{"version", 3}, {"planes", 2}}, {{"version", 4}, {"options", {{"planes", "3"}}}}),
      "another version of the program made it");
  EXPECT_EQ(describe_change({{"stages", {{"patch", {{"radius", 2}}}}}}, {{"options", {{"window", "5"}}}}),
            kDamagedRecord);
  EXPECT_EQ(describe_change({{"x", 1}}, {{"x", 2}}), "other inputs");
}

TEST(Changes, KnowLevelsOfPhotosFromTheOptionOfThatName) {
  const auto of = [](const json& found, const json& wanted) { return describe_change(found, wanted); };
  EXPECT_EQ(of({{"photo", "p"}}, {{"photo", "p"}, {"levels", {0, 4095}}}), "another range of 16-bit photos");
  EXPECT_EQ(of({{"levels", {0, 1023}}}, {{"levels", {0, 4095}}}), "another range of 16-bit photos");
  EXPECT_EQ(of({{"options", {{"levels", "5"}}}}, {{"options", {{"levels", "6"}}}}), "--levels 5 -> 6");
}

TEST(Changes, NameViewsThatOverlap) {
  const json found = {{"views", {{"a", {{"maps", "h"}, {"overlapping", {"b"}}}}}}};
  json wanted = found;
  wanted["views"]["a"]["overlapping"] = {"b", "c"};
  EXPECT_EQ(describe_change(found, wanted), "other overlapping views of a");
}

TEST(Changes, NamePhotosMasksCamerasAndPoses) {
  const auto view = [](const char* name, const char* photo, double x, int width) {
    return json{{"name", name}, {"photo", photo}, {"pose", {1, x}}, {"camera", {width, 300, 1.0}}};
  };
  const json found = {{"options", {{"method", "planesweep"}}},
                      {"reference", view("a", "p", 0, 400)},
                      {"sources", {view("b", "q", 0, 400), view("c", "r", 0, 400)}}};
  const auto of = [&](const json& wanted) { return describe_change(found, wanted); };
  json wanted = found;
  wanted["reference"]["photo"] = "other";
  EXPECT_EQ(of(wanted), "another photo");
  wanted["sources"][1]["pose"][1] = 2;
  EXPECT_EQ(of(wanted), "another photo, another pose of c");
  wanted["mask"] = "hash";
  EXPECT_EQ(of(wanted), "another photo, a new mask, another pose of c");
  wanted["options"]["window"] = "5";
  EXPECT_EQ(of(wanted), "--window none -> 5, another photo, a new mask, another pose of c");
  wanted["depth_min"] = 1.5, wanted["depth_max"] = 25.125;
  EXPECT_EQ(
      of(wanted),
      "--window none -> 5, depth range none to none -> 1.5 to 25.125 (--depth-min, --depth-max), another "
      "photo and 2 more changes")
      << "the next one does not fit";
  wanted["options"].erase("window");
  EXPECT_THAT(of(wanted), HasSubstr("depth range none to none -> 1.5 to 25.125 (--depth-min, --depth-max)"));
  wanted = found;
  for (json* it : {&wanted["reference"], &wanted["sources"][0], &wanted["sources"][1]})
    (*it)["camera"] = {200, 150, 0.5};
  EXPECT_EQ(of(wanted), "image size 400x300 -> 200x150 (--max-image-size, --quality)");
  wanted["sources"][1]["camera"] = {199, 149, 0.5};
  EXPECT_EQ(of(wanted), "image size 400x300 -> 200x150 (--max-image-size, --quality)") << "its own alone";
  wanted["reference"]["camera"] = {201, 151, 0.5};
  EXPECT_EQ(list_changes(found, wanted).front().text,
            "image size 400x300 -> 201x151 (--max-image-size, --quality)");
  EXPECT_EQ(list_changes(found, wanted).front().kind, "image size ") << "one cause whatever the sizes";
  wanted = found;
  wanted["sources"][0] = view("d/e", "s", 0, 400);
  EXPECT_EQ(of(wanted), "without the source b, a new source, d/e");
  wanted["sources"] = {found["sources"][1], found["sources"][0]};
  EXPECT_EQ(of(wanted), "another order of the views");
}

TEST(Changes, NameTheResultsOfOtherSteps) {
  const json of_check = {{"reference", {{"maps", {"1", "2"}}}}, {"sources", {{"b", {{"maps", {"3", "4"}}}}}}};
  json wanted = of_check;
  wanted["sources"]["b"]["maps"][1] = "5";
  EXPECT_EQ(describe_change(of_check, wanted), "other depth maps of b");
  wanted["reference"]["maps"][0] = "0";
  EXPECT_EQ(describe_change(of_check, wanted), "other depth maps, other depth maps of b");
  const json of_three = {{"sources", {{"b", {{"maps", {"3"}}}}, {"c", {{"maps", {"4"}}}}}}};
  EXPECT_EQ(describe_change(of_three, {{"sources", {{"b", {{"maps", {"5"}}}}, {"c", {{"maps", {"6"}}}}}}}),
            "other depth maps of b and 1 more");
  EXPECT_EQ(describe_change({{"cloud", {"1"}}}, {{"cloud", {"2"}}}), "another cloud");
  const json pair = {{"left", "1"}, {"right", "2"}, {"camera", {700, 700, 1}}};
  wanted = pair;
  wanted["right"] = "3";
  wanted["camera"][2] = 2;
  EXPECT_EQ(describe_change(pair, wanted), "another calibration, another right image");
}

/// Each option in each pipeline that it has an effect in.
class ChangesOfOptions : public SceneSteps {
 protected:
  struct Inputs {
    json estimate, check, fusion;
  };

  Inputs inputs_of(const GivenOptions& given) {
    options_ = parse_options(given);
    options_.quiet = true;
    const auto job = begin("any");
    for (int view = 0; view < kViews; ++view) {
      StepRecord record;
      record.outputs = {{"file", {1, "hash"}}};
      job->products.photo_hashes[job->plan.name(view)] = "hash";
      for (const Step step : {Step::kEstimate, Step::kCheck})
        job->products.results.put(job->products.key(step, view), record);
    }
    const std::vector<int>& sources = job->plan.view(0).sources;
    return {job->inputs.estimate(0), job->inputs.check(0, sources),
            job->inputs.fusion(job->plan.views_in_scope())};
  }

  /// Values of which some are valid and not the default.
  static std::vector<std::string> candidates(const Option& option, Job job) {
    if (option.kind == ValueKind::kSwitch) return {"true"};
    if (option.name == "planes") return {"24"};
    if (option.name == "max-image-size") return {"64"};
    if (option.name == "roi") return {"-1,-1,-1,1,1,1"};
    if (option.name == "refine") return {"none", "graphcut", "edges", "subpixel", "patches"};
    const Setting* setting = option.setting(job);
    if (setting == nullptr) return {};
    if (!setting->range) return setting->keywords;
    const Range& range = *setting->range;
    std::vector<std::string> values;
    for (const int value : range.values) values.push_back(std::to_string(value));
    if (range.values.empty())
      for (const double value : {range.min + 2, 9.0, 0.25}) values.push_back(decimal(value));
    return values;
  }

  /// The first value of an option that is valid and changes the inputs of a step; empty: none.
  std::string changing_value(const GivenOptions& base, const Inputs& before, const Option& option, Job job,
                             Inputs& inputs) {
    for (const std::string& value : candidates(option, job)) {
      GivenOptions given = base;
      given[option.name] = {value};
      try {
        parse_options(given).check({job});
        inputs = inputs_of(given);
      } catch (const Error&) {
        continue;
      }
      if (inputs.estimate != before.estimate || inputs.check != before.check ||
          inputs.fusion != before.fusion)
        return value;
    }
    return {};
  }
};

/// Visits all places of a value.
void visit_places(const json& value, const json::json_pointer& place,
                  const std::function<void(const json::json_pointer&)>& visit) {
  visit(place);
  if (!value.is_structured()) return;
  for (const auto& [key, part] : value.items()) visit_places(part, place / key, visit);
}

/// @param found  `wanted` with another value at `place`
void expect_said(const json& found, const json& wanted, const json::json_pointer& place) {
  const json &before = found.at(place), &now = wanted.at(place);
  const std::string text = describe_change(found, wanted), where = place.to_string() + " " + before.dump();
  EXPECT_NE(text, "") << where;
  const bool of_another_kind = before.is_object() != now.is_object() || before.is_array() != now.is_array();
  if (of_another_kind && !before.is_null() && !now.is_null() && place != json::json_pointer("/version")) {
    EXPECT_THAT(text, AnyOf(HasSubstr(kDamagedRecord), HasSubstr("another version"))) << where;
  }
}

TEST_F(ChangesOfOptions, OfDamagedInputsAreSaidWhateverTheyHold) {
  const std::vector<json> values = {json(),
                                    true,
                                    -1,
                                    2147483647,
                                    1e300,
                                    "x",
                                    json::array(),
                                    json::array({json::array({1}), "a", json::object()}),
                                    json::object(),
                                    {{"name", 5}, {"0", json::array()}, {"overlapping", 1}}};
  for (const char* method : {"planesweep", "pipeline", "bm", "sgm", "bp"}) {
    const Inputs inputs = inputs_of({{"method", {method}}});
    for (const json& wanted : {inputs.estimate, inputs.check, inputs.fusion})
      visit_places(wanted, json::json_pointer(), [&](const json::json_pointer& place) {
        for (const json& value : values) {
          json found = wanted;
          found.at(place) = value;
          if (found != wanted) expect_said(found, wanted, place);
        }
      });
  }
}

// What is searched is narrowed by the expected depths, and planes of auto by what is found.
TEST_F(ChangesOfOptions, OfTheDepthSearchAreSeen) {
  options_ = parse_options({});
  options_.quiet = true;
  const auto job = begin("any");
  for (int view = 0; view < kViews; ++view) job->products.photo_hashes[job->plan.name(view)];
  const json before = job->inputs.estimate(0);
  options_.planes = job->plan.view(0).planes;
  const StepInputs of_planes(options_.recorded({job->settings.matching.method, false}), job->settings,
                             job->input, job->products);
  EXPECT_EQ(describe_change(before, of_planes.estimate(0)),
            "--planes auto -> " + std::to_string(job->plan.view(0).planes));
  job->plan.views[0].expected.far *= 2;
  EXPECT_EQ(describe_change(before, job->inputs.estimate(0)), "other expected depths");
}

TEST_F(ChangesOfOptions, OfSpecklesBelongToTheStepThatDropsThem) {
  const Inputs patches = inputs_of({}), swept = inputs_of({{"planes", {"20"}}});
  const Inputs fewer = inputs_of({{"speckle", {"10"}}});
  const Inputs fewer_swept = inputs_of({{"planes", {"20"}}, {"speckle", {"10"}}});
  EXPECT_EQ(describe_change(patches.estimate, fewer.estimate), "");
  EXPECT_EQ(describe_change(patches.check, fewer.check), "--speckle 20 -> 10");
  EXPECT_EQ(describe_change(swept.estimate, fewer_swept.estimate), "--speckle 20 -> 10");
  EXPECT_EQ(describe_change(swept.check, fewer_swept.check), "");
}

/// Options of all pipelines, so that each option has an effect in one.
const std::vector<GivenOptions> kBases = {{},
                                          {{"planes", {"20"}}},
                                          {{"planes", {"20"}}, {"cost", {"sad"}}},
                                          {{"aggregation", {"cross"}}},
                                          {{"aggregation", {"aw"}}},
                                          {{"optimizer", {"graphcut"}}},
                                          {{"method", {"sgm"}}, {"cost", {"rank"}}},
                                          {{"method", {"bm"}}},
                                          {{"method", {"bp"}}},
                                          {{"method", {"pipeline"}}, {"preset", {"ad-census"}}},
                                          {{"method", {"pipeline"}}, {"aggregation", {"aw"}}}};

TEST_F(ChangesOfOptions, AreSaidByTheirNames) {
  std::set<std::string> said;
  for (const GivenOptions& base : kBases) {
    const Job job{parse_options(base).method_of(false), false};
    const Inputs before = inputs_of(base);
    for (const Option* option : all_options()) {
      if (option->scope != OptionScope::kResults || base.contains(option->name)) continue;
      Inputs after;
      const std::string value = changing_value(base, before, *option, job, after);
      if (value.empty() || option->name == "method") continue;
      std::string text;
      for (const auto member : {&Inputs::estimate, &Inputs::check, &Inputs::fusion})
        text += describe_change(before.*member, after.*member) + "; ";
      EXPECT_THAT(text, AnyOf(HasSubstr("--" + option->name), HasSubstr("source "), HasSubstr("more change")))
          << value;
      EXPECT_THAT(text, AllOf(Not(HasSubstr("_")), Not(HasSubstr("/")), Not(HasSubstr("other inputs"))))
          << option->name << " " << value;
      said.insert(option->name);
    }
  }
  std::istringstream expected(
      "cost colour window combine best-k optimizer aggregation aw-colour arm-length refine quality "
      "sources max-image-size planes depth-min max-cost min-confidence min-lone-confidence speckle "
      "min-views max-depth-error max-normal-angle max-hole min-fused-views point-spacing roi rank-window "
      "paths p1 p2 p2-falloff uniqueness left-right prefilter steps levels sigma storage");
  for (std::string option; expected >> option;) EXPECT_TRUE(said.contains(option)) << option;
}

/// Options of the command line that change no result: where and by whom it is computed, and what is said.
const std::set<std::string> kWithoutInfluence = {
    "device",      "output",  "images",   "depth-maps",   "progress",
    "calibration", "views",   "shard",    "stage",        "dry-run",
    "overwrite",   "clean",   "wait",     "config",       "quiet",
    "json",        "verbose", "help",     "memory-limit", "gpu-memory-limit",
    "threads",     "version", "help-all", "prior-maps"};

/// Options that stand for others, or for sources, cameras and depths, which the records have.
const std::set<std::string> kSaidByOthers = {"preset",    "quality",   "sources",
                                             "min-angle", "max-angle", "max-image-size",
                                             "depth-min", "depth-max", "method"};

/// An option that is in no record lets stale work pass for that of the run.
TEST_F(ChangesOfOptions, AreInARecordUnlessTheyHaveNoInfluence) {
  std::map<std::string, std::string> in_records;
  for (const bool pair : {false, true})
    for (const GivenOptions& base : kBases) {
      SessionOptions options = parse_options(base);
      options.cloud.roi = SceneBox{{0, 0, 0}, {1, 1, 1}};
      options.cloud.offset.automatic = true;
      options.pair.depth_png = 1.0;
      options.use(Method::kBlockMatching).block.region = {0, 0, 8, 8};
      in_records.merge(options.recorded({options.method_of(pair), pair})
                           .of({OptionResult::kDepthMaps, OptionResult::kPlanes, OptionResult::kCheck,
                                OptionResult::kAgreement, OptionResult::kCloud, OptionResult::kCloudFile,
                                OptionResult::kTiles, OptionResult::kExport}));
    }
  const SessionOptions given = parse_options({{"depth-maps", {"maps"}}, {"depth-unit", {"0.001"}}});
  in_records.merge(given.recorded({}).of({OptionResult::kDepthMaps}));
  const SessionOptions with_priors = parse_options({{"prior-maps", {"maps"}}});
  in_records.merge(with_priors.recorded({}).of({OptionResult::kPlanes}));
  // Records of pairs have the disparities that are searched, which may come from a calibration.
  for (const char* name : {"min-disparity", "max-disparity"}) in_records[name] = "";
  for (const Option* option : all_options()) {
    const bool results = option->scope == OptionScope::kResults;
    EXPECT_NE(results, kWithoutInfluence.contains(option->name)) << option->name;
    EXPECT_EQ(results, in_records.contains(option->name) || kSaidByOthers.contains(option->name))
        << option->name;
  }
}

/// Where, and with what, work is done changes no record.
TEST_F(ChangesOfOptions, WithoutInfluenceChangeNoRecord) {
  const Inputs before = inputs_of({});
  const GivenOptions given = {{"device", {"cuda:7"}},     {"threads", {"3"}},
                              {"memory-limit", {"3GiB"}}, {"gpu-memory-limit", {"3GiB"}},
                              {"overwrite", {"true"}},    {"clean", {"true"}},
                              {"output", {"elsewhere"}},  {"stage", {"fuse"}}};
  for (const auto& [name, value] : given) {
    const Inputs after = inputs_of({{name, value}});
    EXPECT_EQ(describe_change(before.estimate, after.estimate), "") << name;
    EXPECT_EQ(describe_change(before.check, after.check), "") << name;
    EXPECT_EQ(describe_change(before.fusion, after.fusion), "") << name;
  }
}

/// What a value means counts, not whether it is given.
TEST_F(ChangesOfOptions, ByTheirDefaultsChangeNothing) {
  for (const GivenOptions& base : kBases) {
    const Job job{parse_options(base).method_of(false), false};
    const Inputs before = inputs_of(base);
    for (const auto& [name, value] :
         options_.recorded(job).of({OptionResult::kDepthMaps, OptionResult::kCheck, OptionResult::kAgreement,
                                    OptionResult::kCloud})) {
      if (base.contains(name) || name == "planes" || name == "optimizer" || name == "aggregation") continue;
      if (name == "max-normal-angle" && value == "30 or by noise") continue;  // a given one is the limit
      GivenOptions given = base;
      given[name] = {value};
      const Inputs after = inputs_of(given);
      EXPECT_EQ(describe_change(before.estimate, after.estimate), "") << name << " " << value;
      EXPECT_EQ(describe_change(before.check, after.check), "") << name << " " << value;
      EXPECT_EQ(describe_change(before.fusion, after.fusion), "") << name << " " << value;
    }
  }
}

TEST_F(ChangesOfOptions, AreTextsOfTheCommandLine) {
  const json options = inputs_of({{"window", {"7"}}}).estimate.at("options");
  EXPECT_EQ(options.at("window"), "7");
  EXPECT_EQ(options.at("cost"), "zncc");
  EXPECT_EQ(options.at("refine"), "edges,patches,smooth,prior");
  EXPECT_EQ(options.at("combine"), "best-k");
  EXPECT_EQ(inputs_of({{"method", {"bm"}}}).estimate.at("options").at("prefilter"), "sobel");
}

}  // namespace
}  // namespace recon
