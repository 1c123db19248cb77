// Standard error as objects, for programs that show the progress themselves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class JsonProgress : public SceneTest {
 protected:
  /// The objects of all lines. Each has one of the known forms.
  static std::vector<json> objects(const std::string& text) {
    std::vector<json> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      json object = json::parse(line, nullptr, false);
      EXPECT_TRUE(object.is_object()) << line;
      if (!object.is_object()) continue;
      if (object.contains("step")) {
        EXPECT_TRUE(object.at("step").is_string()) << line;
        for (const char* number : {"done", "total"})
          EXPECT_TRUE(object.at(number).is_number_unsigned()) << line;
        EXPECT_GE(object.at("seconds"), 0) << line;
        EXPECT_LE(object.at("done"), object.at("total")) << line;
        EXPECT_GE(object.value("left", 0.0), 0) << line;
      } else {
        int texts = 0;
        for (const char* kind : {"message", "warning", "error"})
          texts += object.contains(kind) && object.at(kind).is_string() ? 1 : 0;
        EXPECT_EQ(texts, 1) << line;
      }
      all.push_back(std::move(object));
    }
    EXPECT_TRUE(text.empty() || text.ends_with("\n")) << text;
    return all;
  }
};

TEST_F(JsonProgress, SaysEachStepToItsEnd) {
  const Outcome outcome = reconstruct({scene().string(), "--progress", "json", "-v"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, json> last;
  std::map<std::string, int> begun;
  for (const json& object : objects(outcome.err))
    if (object.contains("step")) {
      last[object.at("step")] = object;
      begun[object.at("step")] += object.at("done") == 0 ? 1 : 0;
    }
  for (const char* step : {"undistorting", "depth maps", "check across views", "fusion"}) {
    ASSERT_TRUE(last.contains(step)) << step << outcome.err;
    EXPECT_EQ(last.at(step).at("done"), 5) << step;
    EXPECT_EQ(last.at(step).at("total"), 5) << step;
    EXPECT_EQ(last.at(step).at("left"), 0) << step;
    EXPECT_EQ(begun.at(step), 1) << step;
  }
  EXPECT_THAT(content(dense() / "report.log"), HasSubstr(" debug: ")) << "the log stays text";
}

TEST_F(JsonProgress, SaysWhatFailsAndWarns) {
  const Outcome usage = reconstruct({scene().string(), "--window", "4", "--progress=json"});
  EXPECT_EQ(usage.exit_code, 2);
  ASSERT_EQ(objects(usage.err).size(), 1u);
  EXPECT_THAT(objects(usage.err).front().at("error"), HasSubstr("--window is 4"));
  const Outcome unknown = reconstruct({scene().string(), "--no-such-option", "--progress", "json"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(objects(unknown.err).back().contains("error"));
  fs::remove(scene() / "images/view02.png");
  const Outcome some = reconstruct({scene().string(), "--progress", "json"});
  EXPECT_EQ(some.exit_code, 7);
  bool warned = false;
  for (const json& object : objects(some.err))
    warned |= object.contains("warning") && object.at("warning").get<std::string>().find("view02.png") == 0;
  EXPECT_TRUE(warned) << some.err;
  const Outcome quiet = reconstruct({scene().string(), "--progress", "json", "--quiet", "--overwrite"});
  for (const json& object : objects(quiet.err)) EXPECT_TRUE(object.contains("warning")) << object;
  const Outcome other = reconstruct({scene().string(), "--progress", "xml"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("--progress is 'xml'; it can be json or text"));
}

TEST_F(JsonProgress, OfASessionNamesTheScene) {
  const std::string odd = "b \"quoted\"\n\xFF";
  copy_scene(folder() / "session" / "a");
  copy_scene(folder() / "session" / odd);
  for (const char* threads : {"1", "2"}) {
    const Outcome outcome = reconstruct({(folder() / "session").string(), "--progress", "json", "--threads",
                                         threads, "-o", (folder() / "out").string(), "--overwrite"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::map<std::string, int> fused;
    for (const json& object : objects(outcome.err))
      if (object.value("step", "") == "fusion" && object.at("done") == 5)
        ++fused[object.value("input", "without an input")];
    EXPECT_EQ(fused.size(), 2u) << outcome.err;
    EXPECT_FALSE(fused.contains("without an input")) << outcome.err;
  }
}

TEST_F(JsonProgress, OfASessionNamesTheSceneThatFailsAtFirstSight) {
  copy_scene(folder() / "session" / "a");
  copy_scene(folder() / "session" / "b");
  const fs::path broken = folder() / "session" / "b";
  set_content(broken / "sparse/cameras.txt", "1 NO_SUCH_MODEL 96 72 1\n");
  const Outcome outcome = reconstruct({(folder() / "session").string(), "--progress", "json", "-o",
                                       (folder() / "out").string(), "--dry-run"});
  int errors = 0;
  for (const json& object : objects(outcome.err)) {
    if (!object.contains("error")) continue;
    ++errors;
    EXPECT_EQ(object.value("input", "none"), broken.string()) << object;
  }
  EXPECT_EQ(errors, 1) << outcome.err;
}

}  // namespace
}  // namespace recon
