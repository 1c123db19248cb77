// Memory and processors, as reported by trees of /proc and cgroup files like those of real systems.

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/system_limits.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecondVersionMount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

class FakeSystem : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("recon-system-" + std::to_string(getpid()));
    fs::remove_all(root_);
    write("proc/meminfo", "MemTotal:  8000 kB\nMemFree:  1000 kB\nMemAvailable:   4000 kB\nBuffers: 7 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
};

TEST_F(FakeSystem, WithoutGroupsMemoryIsWhatTheKernelHasAvailable) {
  EXPECT_EQ(available_memory(root_), 4000u * 1024);
}

TEST_F(FakeSystem, SecondVersionLimitWins) {
  write("proc/self/mountinfo", kSecondVersionMount);
  write("proc/self/cgroup", "0::/jobs/one\n");
  write("sys/fs/cgroup/jobs/one/memory.max", "2000000\n");
  write("sys/fs/cgroup/jobs/one/memory.current", "900000\n");
  write("sys/fs/cgroup/jobs/one/memory.stat",
        "anon 600000\nfile 300000\nactive_file 100000\ninactive_file 200000\n");
  EXPECT_EQ(available_memory(root_), 2000000u - 700000u);
}

TEST_F(FakeSystem, LimitOfAGroupFurtherOutWins) {
  write("proc/self/mountinfo", kSecondVersionMount);
  write("proc/self/cgroup", "0::/jobs/one\n");
  write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  write("sys/fs/cgroup/jobs/one/memory.current", "5000\n");
  write("sys/fs/cgroup/jobs/memory.max", "1000000\n");
  write("sys/fs/cgroup/jobs/memory.current", "250000\n");
  EXPECT_EQ(available_memory(root_), 750000u);
}

TEST_F(FakeSystem, FirstVersionLimitWins) {
  write("proc/self/mountinfo",
        "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "32 23 0:28 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n");
  write("proc/self/cgroup", "5:memory:/slurm/job_7\n4:cpu,cpuacct:/slurm/job_8\n0::/\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "3000000\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.stat", "inactive_file 1\ntotal_inactive_file 400000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000000\n");
  EXPECT_EQ(available_memory(root_), 3000000u - 600000u);
}

TEST_F(FakeSystem, ContainerThatSeesThePathOfTheHost) {
  write("proc/self/mountinfo", "32 23 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
  write("proc/self/cgroup", "5:memory:/docker/abc\n");
  EXPECT_EQ(available_memory(root_), 900000u);
  write("proc/self/cgroup", "5:memory:/elsewhere\n");
  EXPECT_EQ(available_memory(root_), 900000u);
  const auto groups = cgroups_of_this_process(root_, "memory");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].directory, root_ / "sys/fs/cgroup/memory");
}

TEST_F(FakeSystem, UsageAboveTheLimitLeavesNothing) {
  write("proc/self/mountinfo", kSecondVersionMount);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "1000\n");
  write("sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(available_memory(root_), 0u);
}

TEST_F(FakeSystem, UnknownMemoryIsAnError) {
  write("proc/meminfo", "MemTotal:  8000 kB\n");
  EXPECT_THROW(available_memory(root_), InputError);
}

TEST_F(FakeSystem, QuotaOfEitherVersionLowersTheThreads) {
  write("proc/self/mountinfo", kSecondVersionMount);
  write("proc/self/cgroup", "0::/jobs\n");
  write("sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
  EXPECT_EQ(available_threads(root_), 1);

  write("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("proc/self/cgroup", "4:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_threads(root_), 1);
}

TEST_F(FakeSystem, WithoutAQuotaTheAffinityCounts) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  write("proc/self/mountinfo", kSecondVersionMount);
  write("proc/self/cgroup", "0::/jobs\n");
  write("sys/fs/cgroup/jobs/cpu.max", "max 100000\n");
  EXPECT_EQ(available_threads(root_), CPU_COUNT(&all));

  cpu_set_t first;
  CPU_ZERO(&first);
  int processor = 0;
  while (!CPU_ISSET(processor, &all)) ++processor;
  CPU_SET(processor, &first);
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  EXPECT_EQ(available_threads(root_), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(ThisSystem, HasMemoryAndThreads) {
  EXPECT_GT(available_memory(), std::size_t{1} << 20);
  EXPECT_GE(available_threads(), 1);
}

}  // namespace
}  // namespace recon
