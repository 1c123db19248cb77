#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/log.hpp"

namespace recon {

class LogFileSink;

/// A copy of messages during its life in a file, with time and level, also of those that standard error does
/// not show: of all or, where the thread that makes it has a message_subject, of those about this. They are
/// kept in memory until the file is known.
class LogFile {
 public:
  LogFile();
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Appends the messages so far to `path`, and each later one as it comes.
  /// @throws OutputError when the file cannot be opened
  void open(const std::filesystem::path& path);

  /// Adds a message that nothing else shows.
  void add(const std::string& text);

 private:
  std::shared_ptr<LogFileSink> sink_;
  LogSink messages_;
};

/// A log of the messages that no LogFile copies: for threads that work beside the inputs, whose messages
/// would be in the file of one of them by chance. Call it while there is no LogFile.
std::shared_ptr<spdlog::logger> log_without_files();

/// From now on standard error has one JSON object a line instead of text: {"warning": "..."}, {"error":
/// "..."}, {"message": "..."}, and of Progress {"step": "depth maps", "done": 7, "total": 18, "seconds": 3.5,
/// "left": 5}. "left" is predicted, and absent where nothing is known. Their message_subject is in "input".
/// Call it first in `main`.
void set_json_messages() noexcept;

/// Whether that was called. Safe in a signal handler.
bool json_messages() noexcept;

/// A message as one line without its end. Bytes that are no UTF-8 are replaced.
std::string message_object(nlohmann::ordered_json object);

}  // namespace recon
