#include "core/json_messages.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace recon {
namespace {

std::atomic<bool> writes_objects{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

std::mutex subject_mutex;

std::string& message_subject() {
  static std::string subject;
  return subject;
}

}  // namespace

bool json_messages() noexcept {
  return writes_objects;
}

void set_json_messages() noexcept {
  writes_objects = true;
}

void set_message_subject(const std::string& subject) {
  const std::lock_guard lock(subject_mutex);
  message_subject() = subject;
}

std::string message_object(nlohmann::ordered_json object) {
  {
    const std::lock_guard lock(subject_mutex);
    if (!message_subject().empty()) object["input"] = message_subject();
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace recon
