#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/run_program.hpp"

namespace recon {

/// Holds the lock of an output folder as another process would.
class HeldLock {
 public:
  HeldLock(const fs::path& output, int operation)
      : fd_(open((output / "status/lock").c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_GE(fd_, 0);
    EXPECT_EQ(flock(fd_, operation | LOCK_NB), 0);
  }
  ~HeldLock() { close(fd_); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

 private:
  int fd_;
};

}  // namespace recon
