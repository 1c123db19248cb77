// Photos and masks that are damaged: a warning names them, and no library writes to the streams.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <sstream>

#include "cli/pair_fixture.hpp"
#include "cli/scene_fixture.hpp"
#include "scene/scene.hpp"

namespace recon {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

const std::string kEnd = "\xFF\xD9";

/// A photo as a JPEG, whose name does not matter.
std::string jpeg_of(const fs::path& photo) {
  std::vector<std::uint8_t> bytes;
  cv::imencode(".jpg", cv::imread(photo.string(), cv::IMREAD_COLOR), bytes);
  return {bytes.begin(), bytes.end()};
}

/// The warnings among the objects of --progress json; each line is an object.
std::vector<std::string> warnings_in(const std::string& text) {
  std::vector<std::string> warnings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const json object = json::parse(line, nullptr, false);
    EXPECT_TRUE(object.is_object()) << line;
    if (object.is_object() && object.contains("warning")) warnings.push_back(object.at("warning"));
  }
  return warnings;
}

/// Those of the report that are of damage.
std::vector<std::string> damage_in(const fs::path& report) {
  std::vector<std::string> damage;
  const json object = json::parse(content(report));
  for (const json& warning : object.at("warnings"))
    if (const auto text = warning.get<std::string>(); text.find(" file ") != std::string::npos)
      damage.push_back(text);
  return damage;
}

class DamagedPhotos : public SceneTest {
 protected:
  fs::path photo(const std::string& name) const { return scene() / "images" / name; }
};

TEST_F(DamagedPhotos, OfWhichPixelsAreMissingAreUsedWithAWarningThatNamesThem) {
  const std::string whole = jpeg_of(photo("view01.png"));
  set_content(photo("view01.png"), whole.substr(0, whole.size() / 2) + kEnd);
  const std::vector<std::string> command = {scene().string(), "--progress", "json"};
  for (const char* run : {"first", "resumed"}) {
    const Outcome outcome = reconstruct(command);
    EXPECT_EQ(outcome.exit_code, 0) << run << outcome.err;
    const auto damage = damage_in(dense() / "report.json");
    ASSERT_THAT(damage, SizeIs(1)) << run;
    EXPECT_THAT(damage.front(), AllOf(HasSubstr(photo("view01.png").string() + ": the JPEG file is damaged"),
                                      HasSubstr(" of 72 on")));
    EXPECT_THAT(warnings_in(outcome.err), IsSupersetOf(damage)) << run;
  }
}

TEST_F(DamagedPhotos, WithoutEndMarkersGiveTheCloudOfWholeOnes) {
  std::vector<std::string> names;
  for (const View& view : model().views) names.push_back(view.name);
  for (const std::string& name : names) set_content(photo(name), jpeg_of(photo(name)));
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "whole").string()}).exit_code, 0);
  for (const std::string& name : names) {
    const std::string whole = content(photo(name));
    set_content(photo(name), whole.substr(0, whole.size() - 2));
  }
  const Outcome outcome = reconstruct({scene().string(), "--progress", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(content(dense() / "fused.ply"), content(folder() / "whole/fused.ply"));
  const auto damage = damage_in(dense() / "report.json");
  EXPECT_THAT(damage, AllOf(SizeIs(names.size()), Each(HasSubstr("lacks its end marker"))));
  EXPECT_THAT(warnings_in(outcome.err), IsSupersetOf(damage));
}

TEST_F(DamagedPhotos, OfAnyFormatThatCannotBeUsedPrintNothing) {
  const cv::Mat pixels = cv::imread(photo("view02.png").string(), cv::IMREAD_COLOR);
  for (const char* extension : {".jpg", ".png", ".tiff", ".webp", ".jp2", ".hdr", ".ras"}) {
    std::vector<std::uint8_t> bytes;
    cv::imencode(extension, pixels, bytes);
    set_content(photo("view02.png"),
                std::string(bytes.begin(), bytes.begin() + static_cast<int>(bytes.size() / 2)));
    const Outcome outcome = reconstruct({scene().string(), "--progress", "json", "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 0) << extension << outcome.err;
    warnings_in(outcome.err);
  }
  const Outcome outcome = reconstruct({scene().string(), "--progress", "json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(warnings_in(outcome.err), testing::Contains(HasSubstr("view02.png is left out: ")));
}

TEST_F(DamagedPhotos, AndMasksAreNamed) {
  fs::create_directories(scene() / "masks");
  std::vector<std::uint8_t> bytes;
  cv::imencode(".png", cv::Mat(72, 96, CV_8UC1, cv::Scalar(255)), bytes);
  const std::string whole(bytes.begin(), bytes.end());
  set_content(scene() / "masks/view00.png.png", whole.substr(0, whole.size() - 12));
  const Outcome outcome = reconstruct({scene().string(), "--progress", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(damage_in(dense() / "report.json"),
              ElementsAre(AllOf(HasSubstr("masks/view00.png.png: the PNG file ends early"))));
}

TEST_F(PairTest, DamagedImagesAreNamedOnce) {
  write_images();
  const std::string whole = jpeg_of(file("left.png"));
  set_content(file("left.png"), whole.substr(0, whole.size() - 2));
  const Outcome outcome = match({"--progress", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto damage = damage_in(file("dense/report.json"));
  EXPECT_THAT(damage, ElementsAre(HasSubstr("left.png: the JPEG file lacks its end marker")));
  const auto warnings = warnings_in(outcome.err);
  EXPECT_EQ(std::ranges::count(warnings, damage.empty() ? "" : damage.front()), 1);
}

}  // namespace
}  // namespace recon
