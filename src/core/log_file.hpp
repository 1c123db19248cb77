#pragma once

#include <spdlog/fwd.h>

#include <filesystem>
#include <memory>

namespace recon {

class LogFileSink;

/// A copy of all messages during its life in a file, with time and level, also of those that standard error
/// does not show. They are kept in memory until the file is known. Needs set_up_log.
class LogFile {
 public:
  LogFile();
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Appends the messages so far to `path`, and each later one as it comes.
  /// @throws OutputError when the file cannot be opened
  void open(const std::filesystem::path& path);

 private:
  std::shared_ptr<LogFileSink> sink_;
};

/// A log to standard error that no LogFile copies: for threads that work beside the inputs, whose messages
/// would be in the file of one of them by chance. Call it while there is no LogFile. Needs set_up_log.
std::shared_ptr<spdlog::logger> standard_error_log();

}  // namespace recon
