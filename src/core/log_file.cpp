#include "core/log_file.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "core/message_subject.hpp"
#include "core/printable.hpp"

namespace recon {

namespace {

/// The text of a message on one line.
class Text : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Text>(); }
};

std::unique_ptr<spdlog::formatter> formatter() {
  auto result = std::make_unique<spdlog::pattern_formatter>();
  result->add_flag<Text>('*').set_pattern("%Y-%m-%dT%H:%M:%S%z %l: %*");
  return result;
}

}  // namespace

class LogFileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  LogFileSink() : base_sink(formatter()) {}

  void open(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    if (std::filesystem::is_fifo(path, ignored))  // to open it may take for ever
      throw OutputError(path.string() + ": is a pipe, and messages would wait for its reader; remove it");
    file_.open(path, std::ios::app | std::ios::binary);
    if (!file_) throw OutputError(path.string() + ": cannot be opened: " + std::strerror(errno));
    file_ << early_ << std::flush;
    early_.clear();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (subject_ && message_subject() != subject_) return;
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    if (file_.is_open())
      file_.write(text.data(), static_cast<std::streamsize>(text.size())).flush();
    else
      early_.append(text.data(), text.size());
  }
  void flush_() override { file_.flush(); }

 private:
  const MessageSubject subject_ = message_subject();
  std::ofstream file_;
  std::string early_;
};

LogFile::LogFile() : sink_(std::make_shared<LogFileSink>()), messages_(sink_) {}

LogFile::~LogFile() = default;

void LogFile::open(const std::filesystem::path& path) {
  sink_->open(path);
}

void LogFile::add(const std::string& text) {
  spdlog::logger("reconstruct", sink_).info("{}", text);
}

std::shared_ptr<spdlog::logger> log_without_files() {
  const auto sinks = all_sinks();
  return std::make_shared<spdlog::logger>("reconstruct", sinks.begin(), sinks.end());
}

namespace {

std::atomic<bool> writes_objects{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

}  // namespace

bool json_messages() noexcept {
  return writes_objects;
}

void set_json_messages() noexcept {
  writes_objects = true;
}

std::string message_object(nlohmann::ordered_json object) {
  if (message_subject()) object["input"] = *message_subject();
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace recon
