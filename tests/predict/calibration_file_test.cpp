#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "predict/performance_model.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

const CalibrationKey kKey{"CPU, 2 threads, \"odd\"", 2, "1.2.3"};

PerformanceModel sample_model() {
  PerformanceModel model;
  for (int i = 0; i < 3; ++i) {
    StageTask task;
    task.stage = i < 2 ? "stage a" : "stage b first";
    task.radius = i;
    task.pixels = 1000.5 + i;
    task.planes = 64;
    task.sources = 3;
    task.work = StageWork::of({1, 2.25, 1e12 / 3, 0, 5});
    model.add(task, 1.0 / (3 + i));
  }
  model.learn("fusion", 1.0 / 3, 0.7);
  return model;
}

/// Calibrations of a test are kept in a folder of its own.
class CalibrationFile : public testing::Test {
 protected:
  CalibrationFile()
      : folder_(fs::temp_directory_path() / ("calibration-test-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    if (const char* given = ::getenv("XDG_CACHE_HOME")) before_ = given;
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~CalibrationFile() override {
    ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    fs::remove_all(folder_);
  }
  void replace(const std::string& text) const {
    fs::create_directories(calibration_folder());
    std::ofstream(calibration_path(kKey)) << text;
  }

  fs::path folder_;
  std::string before_;
};

TEST_F(CalibrationFile, GivesBackWhatWasKept) {
  const PerformanceModel model = sample_model();
  save_calibration(kKey, model);
  const PerformanceModel found = load_calibration(kKey);
  ASSERT_EQ(found.measured().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const MeasuredTask &a = model.measured()[i], &b = found.measured()[i];
    EXPECT_EQ(a.task.stage, b.task.stage);
    EXPECT_EQ(a.task.radius, b.task.radius);
    EXPECT_EQ(a.task.work.terms(), b.task.work.terms());
    EXPECT_EQ(a.task.pixels, b.task.pixels);
    EXPECT_EQ(a.task.planes, b.task.planes);
    EXPECT_EQ(a.task.sources, b.task.sources);
    EXPECT_EQ(a.seconds, b.seconds);
  }
  EXPECT_EQ(found.runs().size(), 1u);
  EXPECT_EQ(found.factor("fusion"), model.factor("fusion"));
}

TEST_F(CalibrationFile, IsOfOneDeviceThreadsAndVersion) {
  save_calibration(kKey, sample_model());
  for (const CalibrationKey& other :
       {CalibrationKey{"GPU", 2, "1.2.3"}, {kKey.device, 3, "1.2.3"}, {kKey.device, 2, "1.2.4"}}) {
    EXPECT_NE(calibration_path(other), calibration_path(kKey));
    EXPECT_TRUE(load_calibration(other).measured().empty());
    EXPECT_THROW(parse_calibration(calibration_text(kKey, sample_model()), other, "file"), InputError);
  }
}

TEST_F(CalibrationFile, DamageIsNoFailure) {
  const std::string good = calibration_text(kKey, sample_model());
  for (std::size_t length = 0; length < good.size(); length += 7) {
    replace(good.substr(0, length));
    EXPECT_TRUE(load_calibration(kKey).measured().empty()) << length;
  }
  save_calibration(kKey, sample_model());  // and is written over
  EXPECT_EQ(load_calibration(kKey).measured().size(), 3u);
}

TEST_F(CalibrationFile, NumbersOutOfRangeAreRefused) {
  const std::string good = calibration_text(kKey, sample_model());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  EXPECT_NO_THROW(parse_calibration(good, kKey, "file"));
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"2.25", "-1"},
                                 {"2.25", "1e300"},
                                 {"2.25", "\"2\""},
                                 {"1000.5", "0"},
                                 {"\"seconds\": 0.25", "\"seconds\": 0"},
                                 {"\"radius\": 1", "\"radius\": 1e9"},
                                 {"\"radius\": 1", "\"radius\": -1"},
                                 {"\"radius\": 1", "\"radius\": null"},
                                 {"\"stage\": \"stage a\"", "\"stage\": []"},
                                 {"\"measured\": [", "\"measured\": [7,"},
                                 {"\"measured\"", "\"other\""}})
    EXPECT_THROW(parse_calibration(with(from, to), kKey, "file"), InputError) << from << " -> " << to;
}

TEST_F(CalibrationFile, AFolderThatCannotBeWrittenIsNoFailure) {
  std::ofstream(folder_ / "reconstruct") << "a file where the folder should be";
  EXPECT_NO_THROW(save_calibration(kKey, sample_model()));
  EXPECT_TRUE(load_calibration(kKey).measured().empty());
}

TEST_F(CalibrationFile, FollowsTheHomeWithoutACacheFolder) {
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  const char* given = ::getenv("HOME");
  const std::string home = given == nullptr ? "" : given;
  ::setenv("HOME", folder_.c_str(), 1);
  EXPECT_EQ(calibration_folder(), folder_ / ".cache" / "reconstruct");
  ::setenv("HOME", "relative", 1);
  EXPECT_TRUE(calibration_folder().empty());
  ::unsetenv("HOME");
  EXPECT_TRUE(calibration_folder().empty());
  if (given != nullptr) ::setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace recon
