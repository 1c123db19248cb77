#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/error.hpp"
#include "io/temporary_folder.hpp"
#include "predict/performance_model.hpp"

namespace recon {
namespace {

const CalibrationKey kKey{"CPU, 2 threads, \"odd\"", 2, "1.2.3"};

PerformanceModel sample_model() {
  PerformanceModel model;
  for (int i = 0; i < 3; ++i) {
    const StageTask task{
        i < 2 ? "stage a" : "stage b first", i, {1, 2.25, 1e12 / 3, 0, 5}, 1000.5 + i, 64, 3};
    model.measured.push_back({task, 1.0 / (3 + i)});
  }
  model.learn("fusion", 1.0 / 3, 0.7);
  return model;
}

/// Calibrations of a test are kept in a folder of its own.
class CalibrationFile : public testing::Test {
 protected:
  CalibrationFile() { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }

  const TemporaryFolder folder_;
};

TEST_F(CalibrationFile, GivesBackWhatWasKept) {
  const PerformanceModel model = sample_model();
  save_calibration(kKey, model);
  const PerformanceModel found = load_calibration(kKey);
  ASSERT_EQ(found.measured.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.measured[i].task, model.measured[i].task) << i;
    EXPECT_EQ(found.measured[i].seconds, model.measured[i].seconds) << i;
  }
  EXPECT_EQ(found.runs.size(), 1u);
  EXPECT_EQ(found.factor("fusion"), model.factor("fusion"));
}

TEST_F(CalibrationFile, IsOfOneDeviceThreadsAndVersion) {
  save_calibration(kKey, sample_model());
  for (const CalibrationKey& other :
       {CalibrationKey{"GPU", 2, "1.2.3"}, {kKey.device, 3, "1.2.3"}, {kKey.device, 2, "1.2.4"}}) {
    EXPECT_NE(calibration_path(other), calibration_path(kKey));
    EXPECT_TRUE(load_calibration(other).measured.empty());
    EXPECT_THROW(parse_calibration(calibration_text(kKey, sample_model()), other, "file"), InputError);
  }
}

TEST_F(CalibrationFile, DamageIsNoFailure) {
  const std::string good = calibration_text(kKey, sample_model());
  for (std::size_t length = 0; length < good.size(); length += 7) {
    spill(calibration_path(kKey), good.substr(0, length));
    EXPECT_TRUE(load_calibration(kKey).measured.empty()) << length;
  }
  save_calibration(kKey, sample_model());  // and is written over
  EXPECT_EQ(load_calibration(kKey).measured.size(), 3u);
}

TEST_F(CalibrationFile, NumbersOutOfRangeAreRefused) {
  const std::string good = calibration_text(kKey, sample_model());
  EXPECT_NO_THROW(parse_calibration(good, kKey, "file"));
  const std::pair<std::string, std::vector<std::string>> changes[] = {
      {"2.25", {"-1", "1e300", "\"2\"", "2, 1"}},
      {"1000.5", {"0"}},
      {"\"seconds\": 0.25", {"\"seconds\": 0"}},
      {"\"radius\": 1", {"\"radius\": 1e9", "\"radius\": -1", "\"radius\": null"}},
      {"\"stage a\"", {"[]"}},
      {"\"measured\": [", {"\"measured\": [7,", "\"other\": ["}}};
  for (const auto& [from, replacements] : changes)
    for (const std::string& to : replacements) {
      ASSERT_NE(good.find(from), std::string::npos) << from;
      const std::string text = std::string(good).replace(good.find(from), from.size(), to);
      EXPECT_THROW(parse_calibration(text, kKey, "file"), InputError) << from << " -> " << to;
    }
}

TEST_F(CalibrationFile, DoesWithoutAFolder) {
  EXPECT_EQ(calibration_path(kKey).parent_path(), folder_ / "reconstruct");
  spill(folder_ / "reconstruct", "a file where the folder should be");
  EXPECT_NO_THROW(save_calibration(kKey, sample_model()));
  EXPECT_TRUE(load_calibration(kKey).measured.empty());
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", folder_.path().c_str(), 1);
  EXPECT_EQ(calibration_path(kKey).parent_path(), folder_ / ".cache/reconstruct");
  ::setenv("HOME", "relative", 1);
  EXPECT_TRUE(calibration_path(kKey).empty());
  ::unsetenv("HOME");
  EXPECT_TRUE(calibration_path(kKey).empty());
}

}  // namespace
}  // namespace recon
