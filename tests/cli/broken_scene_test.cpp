// Sessions with folders that are no scenes: the others are done, and all are named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class BrokenScenes : public SceneTest {
 protected:
  BrokenScenes() {
    fs::create_directories(session());
    fs::rename(scene(), session() / "b-good");
    fs::create_directories(session() / "a-no-model/images");
    fs::create_directories(session() / "c-no-photos/sparse");
    fs::create_directories(session() / "notes");
  }
  fs::path session() const { return folder() / "session"; }

  /// The good scene is done, the broken ones are named in messages and in the object.
  void expect_broken_ones_named(const std::vector<std::string>& arguments) const {
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("a-no-model: this is not a scene: it has no folder sparse/"));
    EXPECT_THAT(outcome.err, HasSubstr("c-no-photos: this is not a scene: it has no folder images/"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("notes")));
    EXPECT_TRUE(fs::exists(session() / "b-good/dense/fused.ply"));
    const json scenes = outcome.json().at("scenes");
    ASSERT_EQ(scenes.size(), 3u);
    EXPECT_THAT(scenes[0].at("error").get<std::string>(), HasSubstr("a-no-model"));
    EXPECT_GT(scenes[1].at("points"), 0);
    EXPECT_THAT(scenes[2].at("error").get<std::string>(), HasSubstr("c-no-photos"));
  }
};

TEST_F(BrokenScenes, OfAFolderDoNotStopTheOthers) {
  expect_broken_ones_named({session().string(), "--json"});
}

TEST_F(BrokenScenes, OfAListDoNotStopTheOthers) {
  expect_broken_ones_named({(session() / "a-no-model").string(), (session() / "b-good").string(),
                            (session() / "c-no-photos").string(), "--json"});
}

TEST_F(BrokenScenes, LeaveTheDeviceNamedOnceAndInTheLogOfEachScene) {
  fs::copy(session() / "b-good", session() / "d-good", fs::copy_options::recursive);
  const Outcome outcome = reconstruct({session().string()});
  const auto lines_in = [](const std::string& text) {
    const std::string line = "working on the CPU, as asked";
    int count = 0;
    for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos; at += line.size()) ++count;
    return count;
  };
  EXPECT_EQ(lines_in(outcome.err), 1) << outcome.err;
  for (const char* scene : {"b-good", "d-good"}) {
    const std::string log = content(session() / scene / "dense/report.log");
    EXPECT_EQ(lines_in(log), 1) << scene;
    EXPECT_THAT(log, HasSubstr(" info: working on ")) << scene;
  }
}

TEST_F(BrokenScenes, AloneStillGiveTheObject) {
  const Outcome outcome = reconstruct({(session() / "a-no-model").string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.json().at("exit_code"), 3);
  EXPECT_EQ(outcome.json().at("scenes").size(), 1u);
}

}  // namespace
}  // namespace recon
