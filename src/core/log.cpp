#include "core/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

namespace recon {
namespace {

/// Prefix of a message by its level: none for information.
class LevelPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string_view text = message.level >= spdlog::level::err    ? "error: "
                                  : message.level >= spdlog::level::warn ? "warning: "
                                                                         : "";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelPrefix>(); }
};

spdlog::level::level_enum level_of(Verbosity verbosity) {
  switch (verbosity) {
    case Verbosity::kQuiet:
      return spdlog::level::warn;
    case Verbosity::kNormal:
      return spdlog::level::info;
    case Verbosity::kVerbose:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

void set_up_log(Verbosity verbosity) {
  const std::string wipe_line = isatty(STDERR_FILENO) ? "\r\033[K" : "";
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelPrefix>('*').set_pattern(wipe_line + "%*%v");

  auto logger =
      std::make_shared<spdlog::logger>("reconstruct", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  logger->set_level(level_of(verbosity));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace recon
