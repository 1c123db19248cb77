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

TEST(Log, LeavesStandardOutputAlone) {
  EXPECT_EQ(written_at(spdlog::level::debug).output, "");
}

}  // namespace
}  // namespace recon
