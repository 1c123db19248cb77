#include "core/log.hpp"

#include <spdlog/sinks/dist_sink.h>

#include <memory>
#include <utility>

namespace recon {

namespace {

spdlog::sinks::dist_sink_mt& divider() {
  return static_cast<spdlog::sinks::dist_sink_mt&>(*messages().sinks().front());
}

}  // namespace

spdlog::logger& messages() {
  static const auto logger = [] {
    auto made =
        std::make_shared<spdlog::logger>("reconstruct", std::make_shared<spdlog::sinks::dist_sink_mt>());
    made->set_level(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

std::vector<spdlog::sink_ptr> all_sinks() {
  return divider().sinks();
}

LogSink::LogSink(spdlog::sink_ptr sink) : sink_(std::move(sink)) {
  divider().add_sink(sink_);
}

LogSink::~LogSink() {
  divider().remove_sink(sink_);
}

}  // namespace recon
