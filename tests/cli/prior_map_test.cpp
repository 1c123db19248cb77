// Maps of --prior-maps on the command line: exported ones given back, faults that a plan sees, and the output
// folder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "cli/scene_fixture.hpp"
#include "io/map/given_map.hpp"
#include "io/map/map_files.hpp"
#include "io/map/npy.hpp"

namespace recon {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The demo, from which a run has exported its maps as arrays of NumPy.
class GivenPriors : public SceneTest {
 protected:
  GivenPriors() {
    fs::copy(fs::path(RECON_SOURCE_DIR) / "scenes/demo", demo(), fs::copy_options::recursive);
    const Outcome exported = run("exporting", {"--export-priors", "npy"});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    fs::copy(folder() / "exporting/splat/priors", priors());
  }

  Outcome run(const char* output, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {RECON_RECONSTRUCT, demo().string(), "--device", "cpu"};
    for (const char* word : {"--quality", "draft", "--max-image-size", "160"}) words.emplace_back(word);
    words.insert(words.end(), {"--output", (folder() / output).string()});
    words.insert(words.end(), more.begin(), more.end());
    return run_program(folder(), words);
  }

  fs::path demo() const { return folder() / "demo"; }
  fs::path priors() const { return folder() / "priors"; }
};

TEST_F(GivenPriors, ThatWereExportedMoveNothingThatIsSure) {
  const Outcome outcome = run("back", {"--prior-maps", priors().string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("--prior-maps: the values follow the depth"));
  int views = 0, sure = 0, moved = 0;
  const json report = json::parse(content(folder() / "back/report.json"));
  for (const json& view : report.at("views")) {
    EXPECT_EQ(view.at("prior").at("used"), true) << view;
    ++views;
    const std::string name = view.at("name"), depths = "stereo/depth_maps/" + name + ".geometric.bin";
    const Image<float> before = read_depth_map(folder() / "exporting" / depths),
                       after = read_depth_map(folder() / "back" / depths),
                       confidence = read_confidence_map(folder() / "exporting/stereo/confidence_maps" /
                                                        (name + ".geometric.png"));
    for (int y = 0; y < before.height(); ++y)
      for (int x = 0; x < before.width(); ++x)
        if (confidence(x, y) >= 0.9f) {
          ++sure;
          moved += !(std::abs(after(x, y) / before(x, y) - 1) <= 0.005f);
        }
  }
  EXPECT_EQ(views, 9);
  EXPECT_GT(sure, 30000);
  EXPECT_LE(moved, sure / 500);
}

TEST_F(GivenPriors, ArePlannedByTheirHeaders) {
  const auto plan = [&] { return run("new", {"--prior-maps", priors().string(), "--dry-run"}).err; };
  EXPECT_THAT(plan(), Not(HasSubstr("its prior")));
  write_pfm(priors() / "view03.jpg.pfm", Image<float>(50, 80, 1.0f).view());
  std::ofstream(priors() / "view04.jpg.pfm") << "Pf\n12";
  EXPECT_THAT(plan(), AllOf(HasSubstr("view03.jpg: its prior is not used: " +
                                      (priors() / "view03.jpg.pfm: the map has 50x80 pixels").string()),
                            HasSubstr("view04.jpg: its prior is not used: ")));
}

/// The order of options says nothing of the result.
TEST_F(GivenPriors, AreKeptWhateverTheOrderOfTheOptions) {
  const std::string maps = priors().string();
  const Outcome first = run("run", {"--prior-maps", maps, "--prior-kind", "depth", "--max-hole", "8"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto expected = results(folder() / "run");
  const Outcome again = run("run", {"--max-hole", "8", "--prior-kind", "depth", "--prior-maps", maps});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("depth maps: 9 of 9 views are finished and kept"),
                               HasSubstr("scene planes: those of 9 views are finished and kept"),
                               HasSubstr("check across views: 9 of 9 views are finished and kept"),
                               HasSubstr("the cloud is finished and kept")));
  EXPECT_TRUE(same_results(results(folder() / "run"), expected));
}

/// What a plan says of changed confidences is what a resumed run does, and its result that of a new one.
TEST_F(GivenPriors, AreFittedAgainWhenTheirConfidencesChange) {
  const auto with_priors = [&](const char* output, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--prior-maps", priors().string()});
    return run(output, more);
  };
  ASSERT_EQ(with_priors("run").exit_code, 0);
  const fs::path confidence = priors() / "view04.jpg.confidence.npy";
  const Image<float> before = read_given_confidence(confidence);
  write_npy(confidence, Image<float>(before.width(), before.height(), 0.0f).view());
  EXPECT_THAT(with_priors("run", {"--dry-run"}).out,
              AllOf(HasSubstr("scene planes"), Not(HasSubstr("depth maps: "))));
  const Outcome changed = with_priors("run");
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(
      changed.err,
      AllOf(
          HasSubstr("depth maps: 9 of 9 views are finished and kept"),
          HasSubstr("scene planes: those of an earlier run are searched again: another prior of view04.jpg"),
          HasSubstr("view04.jpg: its prior is not used: none of its values is sure enough")));
  ASSERT_EQ(with_priors("new").exit_code, 0);
  EXPECT_TRUE(same_results(results(folder() / "run"), results(folder() / "new")));
  const json prior = json::parse(content(folder() / "run/report.json")).at("views").at(4);
  EXPECT_EQ(prior.at("name"), "view04.jpg");
  EXPECT_TRUE(prior.at("prior").contains("fault")) << prior;
}

/// The areas of planes and the fits of priors are work of the same step.
TEST_F(GivenPriors, AreCountedInThePredictedTime) {
  const auto seconds = [&](const char* step, std::vector<std::string> more) {
    more.insert(more.end(), {"--dry-run", "--json"});
    const Outcome outcome = run("new", more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.json().at("scenes").at(0).at("seconds").at("steps").at(step).get<double>();
  };
  const std::vector<std::string> priors = {"--prior-maps", this->priors().string()},
                                 of_kind = {"--prior-maps", priors[1], "--prior-kind", "depth"},
                                 no_planes = {"--prior-maps", priors[1], "--scene-planes", "0"};
  const double planes = seconds("scene planes", {}), with_priors = seconds("scene planes", priors);
  EXPECT_GT(with_priors, 1.05 * planes);
  EXPECT_LT(seconds("scene planes", of_kind), with_priors) << "fitted once";
  EXPECT_LT(seconds("scene planes", no_planes), 0.8 * planes);
  EXPECT_GT(seconds("check across views", priors), seconds("check across views", {}));
}

TEST_F(GivenPriors, DoNotLieInTheOutput) {
  const std::string own = (folder() / "exporting/splat/priors").string();
  const Outcome outcome = run("exporting", {"--prior-maps", own});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--prior-maps " + own + " lies in the output folder"));
  EXPECT_TRUE(fs::exists(own));
}

}  // namespace
}  // namespace recon
