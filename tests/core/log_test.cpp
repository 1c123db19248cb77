#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <string>

#include "core/program.hpp"

namespace recon {
namespace {

/// Output to standard error, which is not a terminal here, and to standard output.
struct Written {
  std::string error, output;
};

Written written_at(spdlog::level::level_enum level) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  set_up_log(level);
  spdlog::debug("why");
  spdlog::info("{} views", 3);
  spdlog::warn("dark.png left out");
  spdlog::error("no views");
  return {testing::internal::GetCapturedStderr(), testing::internal::GetCapturedStdout()};
}

TEST(Log, SaysAsMuchAsAskedFor) {
  EXPECT_EQ(written_at(spdlog::level::warn).error, "warning: dark.png left out\nerror: no views\n");
  EXPECT_EQ(written_at(spdlog::level::info).error, "3 views\nwarning: dark.png left out\nerror: no views\n");
  EXPECT_EQ(written_at(spdlog::level::debug).error,
            "why\n3 views\nwarning: dark.png left out\nerror: no views\n");
}

TEST(Log, SaysWhatItIsAboutOnce) {
  testing::internal::CaptureStderr();
  set_up_log(spdlog::level::info);
  set_log_subject("a%v/b");
  spdlog::info("{} views", 3);
  spdlog::warn("a%v/b/dark.png left out");
  spdlog::error("no views");
  set_log_subject("");
  spdlog::info("end");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a%v/b: 3 views\nwarning: a%v/b/dark.png left out\nerror: a%v/b: no views\nend\n");
}

TEST(Log, LeavesStandardOutputAlone) {
  EXPECT_EQ(written_at(spdlog::level::debug).output, "");
}

}  // namespace
}  // namespace recon
