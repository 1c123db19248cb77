// The report of a run, and what the run says of it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "io/map/map_files.hpp"

namespace recon {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace)
using testing::HasSubstr;
using testing::Not;

class ReconstructReport : public SceneTest {};

TEST_F(ReconstructReport, ReportShowsEveryViewsPhotoAndDepth) {
  const fs::path from = scene() / "images/view00.png", name = "a b#1%.png";
  fs::rename(from, scene() / "images" / name);
  std::string images = content(scene() / "sparse/images.txt");
  images.replace(images.find("view00.png"), 10, name.string());
  set_content(scene() / "sparse/images.txt", images);
  const Outcome outcome = reconstruct({scene().string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json views = page_data(dense() / "report.html", "scene").at("views");
  ASSERT_EQ(views.size(), 5u);
  for (const auto& [view, address] : {std::pair{0, "a%20b%231%25.png"}, {1, "view01.png"}}) {
    EXPECT_EQ(views[view].at("image"), "images/"s + address);
    EXPECT_EQ(views[view].at("preview"), "previews/"s + address + ".png");
    EXPECT_EQ(views[view].at("confidence"), "previews/"s + address + ".confidence.png");
  }
  EXPECT_TRUE(fs::exists(dense() / "previews/a b#1%.png.png"));

  fs::remove_all(dense());
  ASSERT_EQ(reconstruct({scene().string(), "--stage", "estimate"}).exit_code, 0);
  for (const auto& view : page_data(dense() / "report.html", "scene").at("views"))
    EXPECT_FALSE(view.contains("image") || view.contains("preview")) << "there are no previews yet";
}

TEST_F(ReconstructReport, ReportSaysWhichDepthsAreSearchedAndFound) {
  const Outcome plan = reconstruct({scene().string(), "--dry-run"});
  EXPECT_THAT(plan.out, HasSubstr("planes   depths, scene units  sources\n"));
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  const std::string log = content(dense() / "report.log");
  for (const auto& view : report.at("views")) {
    const double near = view.at("found_depths").at(0), far = view.at("found_depths").at(1);
    EXPECT_GT(near, view.at("depth_min"));
    EXPECT_LT(far, view.at("depth_max"));
    EXPECT_THAT(log, HasSubstr(fmt::format("{}: depths from {:.5g} to {:.5g}, ",
                                           view.at("name").get<std::string>(), near, far)));
  }
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(content(dense() / "report.json")).at("views").at(0).at("found_depths"),
            report.at("views").at(0).at("found_depths"))
      << "of kept maps";
  const Outcome bounded = reconstruct({scene().string(), "--depth-min", "1", "--depth-max", "9"});
  ASSERT_EQ(bounded.exit_code, 0) << bounded.err;
  EXPECT_THAT(content(dense() / "report.json"), Not(HasSubstr("found_depths"))) << "nothing is searched for";
}

TEST_F(ReconstructReport, ReportSaysWhenAndByWhatItWasMade) {
  const Outcome outcome = reconstruct({scene().string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_THAT(report.at("date").get<std::string>(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_FALSE(report.at("commit").get<std::string>().empty());
  // The steps in their order.
  const std::vector<std::string> order = {"reading the model", "undistorting",       "opening the device",
                                          "depth maps",        "check across views", "fusion"};
  std::vector<std::string> names;
  for (const auto& step : report.at("steps")) names.push_back(step.at("name"));
  EXPECT_EQ(names, order);
}

TEST_F(ReconstructReport, PageHasTheReport) {
  for (const std::string name : {"report", "report-1-of-2"}) {
    const bool shard = name != "report";
    ASSERT_EQ(reconstruct(
                  {scene().string(), "--stage", shard ? "estimate" : "all", "--shard", shard ? "1/2" : "1/1"})
                  .exit_code,
              0);
    const auto report = nlohmann::json::parse(content(dense() / (name + ".json")));
    nlohmann::json data = page_data(dense() / (name + ".html"), "scene");
    EXPECT_EQ(data.at("files"), nlohmann::json::array({name + ".json", name + ".log"}));
    for (const char* of_page : {"files", "palette", "seen_from"}) data.erase(of_page);
    EXPECT_EQ(data, report) << "names of files are their addresses here";
    EXPECT_EQ(data.contains("points"), !shard);
  }
}

TEST_F(ReconstructReport, ReportSaysWhatColoursMean) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  for (const auto& view : report.at("views")) {
    const double far = view.at("preview_depths").at(0), near = view.at("preview_depths").at(1);
    const Image<float> depth = read_depth_map(dense() / "stereo/depth_maps" /
                                              (view.at("name").get<std::string>() + ".geometric.bin"));
    std::vector<float> known;
    for (int y = 0; y < depth.height(); ++y)
      for (int x = 0; x < depth.width(); ++x)
        if (depth(x, y) > 0) known.push_back(depth(x, y));
    std::sort(known.begin(), known.end());
    EXPECT_NEAR(near, known[known.size() / 50], 0.1 * near);
    EXPECT_NEAR(far, known[known.size() * 49 / 50], 0.1 * far);
  }
}

TEST_F(ReconstructReport, TheLastLineNamesCloudAndReport) {
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_THAT(outcome.out, HasSubstr((dense() / "fused.ply").string() + ": "));
  EXPECT_THAT(outcome.out, testing::EndsWith("; see " + (dense() / "report.html").string() + "\n"));
  const Outcome shard =
      reconstruct({scene().string(), "--stage", "estimate", "--shard", "1/2", "--overwrite"});
  EXPECT_THAT(shard.out, testing::EndsWith("; see " + (dense() / "report-1-of-2.html").string() + "\n"));
}

}  // namespace
}  // namespace recon
