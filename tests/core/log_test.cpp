#include "core/log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "core/error.hpp"
#include "core/log_file.hpp"
#include "core/message_subject.hpp"
#include "core/parallel.hpp"
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
  messages().debug("why");
  messages().info("{} views", 3);
  messages().warn("dark.png left out");
  messages().error("no views");
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
  {
    const SubjectScope about(std::make_shared<const std::string>("a%v/b"));
    messages().info("{} views", 3);
    messages().warn("a%v/b/dark.png left out");
    messages().error("no views");
    std::thread([] { messages().info("another thread"); }).join();
    Arena arena(2);
    arena.execute([] { parallel_for(64, [](int) { EXPECT_TRUE(message_subject()); }); });
  }
  messages().info("end");
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "a%v/b: 3 views\nwarning: a%v/b/dark.png left out\nerror: a%v/b: no views\nanother thread\nend\n");
}

TEST(Log, ShowsNamesAndDoesNotObeyThem) {
  testing::internal::CaptureStderr();
  set_up_log(spdlog::level::info);
  const SubjectScope about(std::make_shared<const std::string>("sc\x1B[2Jene"));
  const std::string file = testing::TempDir() + "log_test.log";
  std::filesystem::remove(file);
  {
    LogFile log;
    log.open(file);
    messages().warn("{}\nerror: x", "\x1B[31mred");
    const SubjectScope other(std::make_shared<const std::string>("other"));
    messages().debug("of another subject");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: sc\\x1B[2Jene: \\x1B[31mred\\x0Aerror: x\n");
  std::ifstream lines(file);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(line.ends_with(" warning: \\x1B[31mred\\x0Aerror: x")) << line;
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Log, IsNoPipe) {
  const std::string pipe = testing::TempDir() + "log_test.pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  set_up_log(spdlog::level::info);
  LogFile log;
  EXPECT_THROW(log.open(pipe), OutputError) << "nobody reads there, and nobody would";
  std::filesystem::remove(pipe);
}

TEST(Log, LeavesStandardOutputAlone) {
  EXPECT_EQ(written_at(spdlog::level::debug).output, "");
}

}  // namespace
}  // namespace recon
