// Maps of --prior-maps on the command line: exported ones given back, faults that a plan sees, and the output
// folder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "cli/scene_fixture.hpp"
#include "io/map/map_files.hpp"

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

TEST_F(GivenPriors, DoNotLieInTheOutput) {
  const std::string own = (folder() / "exporting/splat/priors").string();
  const Outcome outcome = run("exporting", {"--prior-maps", own});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--prior-maps " + own + " lies in the output folder"));
  EXPECT_TRUE(fs::exists(own));
}

}  // namespace
}  // namespace recon
