#pragma once

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

}  // namespace recon
