// What tools/docs says of files for programs: all keys of reports and plans, and an example of a calibration.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/pair_fixture.hpp"
#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

using nlohmann::json;

std::string page(const char* name) {
  return content(fs::path(RECON_SOURCE_DIR) / "tools/docs" / name);
}

/// Adds the keys of an object and of those in it, but for the names of steps and options.
void add_keys(const json& value, std::set<std::string>& keys) {
  for (const auto& [key, inner] : value.items()) {
    if (value.is_object()) keys.insert(key);
    if (inner.is_structured() && key != "steps" && key != "seconds" && key != "option_values")
      add_keys(inner, keys);
    if (key == "steps" && inner.is_array()) add_keys(inner, keys);
  }
}

std::set<std::string> keys_of(const json& value) {
  std::set<std::string> keys;
  add_keys(value, keys);
  return keys;
}

void expect_documented(const std::set<std::string>& keys) {
  const std::string text = page("report.md");
  for (const std::string& key : keys)
    EXPECT_NE(text.find("`" + key + "`"), std::string::npos) << "tools/docs/report.md does not have " << key;
}

class DocumentedScene : public SceneTest {};
class DocumentedPair : public PairTest {};

TEST_F(DocumentedScene, HasAllKeysOfReportsAndPlans) {
  fs::create_directories(scene() / "masks");
  fs::copy_file(scene() / "images/view00.png", scene() / "masks/view00.png.png");
  const fs::path session = folder() / "out";
  const Outcome outcome =
      reconstruct({folder().string(), "-o", session.string(), "--json", "--roi", "-9,-9,-9,9,9,9", "--tile",
                   "3", "--export-points", "100", "--export-priors", "npy", "--sources", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::set<std::string> keys = keys_of(outcome.json());
  EXPECT_THAT(keys,
              testing::IsSupersetOf({"baselines", "depths", "predicted", "elapsed", "roi", "export", "priors",
                                     "tiles", "masked_views", "masked", "found_depths", "preview_depths"}));
  expect_documented(keys);
  expect_documented(keys_of(json::parse(content(session / "session.jsonl"))));
  const Outcome plan =
      reconstruct({scene().string(), folder().string() + "/no_scene", "--json", "--dry-run"});
  EXPECT_EQ(plan.exit_code, 7) << plan.err;
  expect_documented(keys_of(plan.json()));
  const Outcome pairs = reconstruct({scene().string(), "--json", "--dry-run", "--method", "bm"});
  ASSERT_EQ(pairs.exit_code, 0) << pairs.err;
  expect_documented(keys_of(pairs.json()));
}

TEST_F(DocumentedPair, HasAllKeysOfReportsAndPlans) {
  write_pair_folder("pair");
  for (const char* option : {"--dry-run", "--fill"}) {
    const Outcome outcome = reconstruct({"pair", "--json", option});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    expect_documented(keys_of(outcome.json()));
  }
}

/// The first keys of the entries of lists, as the program writes them.
TEST(DocumentedReport, HasNoKeysThatNobodyWrites) {
  std::string code;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(RECON_SOURCE_DIR) / "src/session"))
    if (entry.path().extension() == ".cpp") code += content(entry.path());
  std::istringstream lines(page("report.md"));
  std::size_t checked = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("- `")) continue;
    std::istringstream described(line.substr(2, line.find(": ") - 2));
    for (std::string key; std::getline(described, key, ',');) {
      key = key.substr(key.find('`') + 1);
      key = key.substr(0, key.find('`'));
      EXPECT_NE(code.find("\"" + key + "\""), std::string::npos) << "no report has " << key;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50u);
}

TEST_F(DocumentedPair, CalibrationOfTheDocumentsIsRead) {
  const std::string text = page("formats.md");
  const std::size_t at = text.find("    cam0=");
  ASSERT_NE(at, std::string::npos);
  std::istringstream lines(text.substr(at, text.find("\n\n", at) - at));
  std::string calibration;
  for (std::string line; std::getline(lines, line);) calibration += line.substr(4) + "\n";
  write_images(640, 480);
  fs::create_directory(file("pair"));
  fs::rename(file("left.png"), file("pair/im0.png"));
  fs::rename(file("right.png"), file("pair/im1.png"));
  set_content(file("pair/calib.txt"), calibration);
  const Outcome plan = reconstruct({"pair", "--dry-run"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, testing::HasSubstr("640x480, bm, disparities 0 to 127, with a calibration"));
}

}  // namespace
}  // namespace recon
