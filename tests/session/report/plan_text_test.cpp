// The plan as people read it.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "session/report/report.hpp"
#include "session/scene/scene_steps.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class PlanText : public SceneSteps {
 protected:
  std::string text() {
    const auto job = begin("output");
    job->memory.peak = std::size_t{1} << 30;
    TimePlan time;
    for (const char* step : {"reading the model", "undistorting", "opening the device", "depth maps",
                             "check across views", "fusion"})
      time.steps.emplace_back(step, 1234.5);
    time.total = 7407, time.a_view = 102.875;
    return plan_text(*job, all_work(job->targets, job->plan), time);
  }
};

TEST_F(PlanText, HasLinesOfEightyColumns) {
  options_.selection.max_sources = kViews - 1;
  const std::string plan = text();
  for (const std::string& line : lines_of(plan)) {
    if (line.starts_with(folder_.string())) continue;  // the paths
    EXPECT_LE(line.size(), 80u) << line;
  }
  EXPECT_THAT(plan, testing::ContainsRegex(" view[0-9]+.png \\+[0-9]+\n"));
  EXPECT_THAT(plan, HasSubstr("fusion 21 min"));
}

TEST_F(PlanText, NamesAllSourcesWhereMoreIsAskedFor) {
  options_.selection.max_sources = kViews - 1;
  options_.verbose = true;
  const auto job = begin("output");
  const std::string plan = plan_text(*job, {{Step::kEstimate, {0}}}, {});
  EXPECT_THAT(plan, Not(HasSubstr(" more\n")));
  for (int view = 0; view < kViews; ++view) {
    std::string sources;
    for (const int source : job->plan.view(view).sources) sources += " " + job->plan.name(source);
    EXPECT_THAT(plan, HasSubstr(sources + "\n"));
  }
}

TEST_F(PlanText, SaysWhatIsLeftToDo) {
  const auto job = begin("output");
  const SceneWork some = {{Step::kPrepare, {}}, {Step::kCheck, {0, 2}}, {Step::kFusion, {0, 1, 2}}};
  EXPECT_THAT(plan_text(*job, some, {}),
              HasSubstr("to do, by views: check across views of 2, fusion of 3\n"));
  EXPECT_THAT(plan_text(*job, {{Step::kPrepare, {}}}, {}),
              HasSubstr("to do: nothing, all is finished and kept\n"));
}

TEST_F(PlanText, SaysThatViewsAreDividedWhereTheyAre) {
  const auto job = begin("output");
  EXPECT_THAT(plan_text(*job, {{Step::kEstimate, {0}}}, {}), Not(HasSubstr("pieces")));
  job->memory.tiles = 3;
  EXPECT_THAT(plan_text(*job, {{Step::kEstimate, {0}}}, {}),
              HasSubstr("\n    a view is matched in 3 pieces, so that it fits\n"));
}

TEST_F(PlanText, NamesFewOfTheViewsThatAreLeftOut) {
  const auto job = begin("output");
  for (int i = 0; i < 9; ++i) job->findings.failed.push_back({fmt::format("lost_{}.png", i), "no photo"});
  const std::string plan = plan_text(*job, {{Step::kEstimate, {0}}}, {});
  EXPECT_THAT(plan, HasSubstr("\n  left out: lost_0.png lost_1.png lost_2.png lost_3.png lost_4.png "
                              "lost_5.png +3\n"));
  EXPECT_THAT(plan, Not(HasSubstr("no photo"))) << "warnings say why";
}

TEST_F(PlanText, NamesFewSourcesInFull) {
  options_.selection.max_sources = 2;
  EXPECT_THAT(text(), Not(HasSubstr(" more\n")));
}

}  // namespace
}  // namespace recon
