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
  const std::string page = content(dense() / "report.html");
  for (const std::string name_in_page : {"a%20b%231%25.png", "view01.png"})
    for (const auto& [file, title] : {std::pair{"images/" + name_in_page, "photo"},
                                      {"previews/" + name_in_page + ".png", "depth"},
                                      {"previews/" + name_in_page + ".confidence.png", "confidence"}})
      EXPECT_THAT(page,
                  HasSubstr("<a href=\"" + file + "\" title=\"" + title + "\"><img src=\"" + file + "\""));
  EXPECT_TRUE(fs::exists(dense() / "previews/a b#1%.png.png"));

  fs::remove_all(dense());
  ASSERT_EQ(reconstruct({scene().string(), "--stage", "estimate"}).exit_code, 0);
  EXPECT_THAT(content(dense() / "report.html"), Not(HasSubstr("<img"))) << "there are no previews yet";
}

TEST_F(ReconstructReport, ReportSaysWhichDepthsAreSearchedAndFound) {
  const Outcome plan = reconstruct({scene().string(), "--dry-run"});
  EXPECT_THAT(plan.out, HasSubstr("planes   searched depths        sources\n"));
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  const std::string log = content(dense() / "report.log"), page = content(dense() / "report.html");
  for (const auto& view : report.at("views")) {
    const double near = view.at("found_depths").at(0), far = view.at("found_depths").at(1);
    EXPECT_GT(near, view.at("depth_min"));
    EXPECT_LT(far, view.at("depth_max"));
    EXPECT_THAT(log, HasSubstr(fmt::format("{}: depths from {:.5g} to {:.5g}, ",
                                           view.at("name").get<std::string>(), near, far)));
    EXPECT_THAT(page, HasSubstr(fmt::format(", found {:.4g} to {:.4g}", near, far)));
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
  const std::string page = content(dense() / "report.html");
  EXPECT_THAT(page, HasSubstr("commit " + report.at("commit").get<std::string>()));
  EXPECT_THAT(page, HasSubstr("<time datetime=\"" + report.at("date").get<std::string>() + "\">20"));
  EXPECT_THAT(page,
              HasSubstr("<a href=\"report.json\">report.json</a>, <a href=\"report.log\">report.log</a>"));
  // The steps in their order, in both.
  const std::vector<std::string> order = {"reading the model", "undistorting",       "opening the device",
                                          "depth maps",        "check across views", "fusion"};
  std::vector<std::string> names;
  for (const auto& step : report.at("steps")) names.push_back(step.at("name"));
  EXPECT_EQ(names, order);
  std::size_t at = 0;
  for (const std::string& name : order) {
    at = page.find("<tr><td>" + name + "<td", at);
    ASSERT_NE(at, std::string::npos) << name;
  }
}

TEST_F(ReconstructReport, ReportSaysWhatColoursMean) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const std::string page = content(dense() / "report.html");
  EXPECT_THAT(page, HasSubstr("--colours: linear-gradient(to right, #30123b,"));
  EXPECT_THAT(page, HasSubstr("<span class=scale>depth: far<i></i>near</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=scale>confidence: 0<i></i>1</span>"));
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
