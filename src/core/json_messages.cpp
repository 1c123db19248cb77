#include "core/json_messages.hpp"

#include <atomic>

#include "core/message_subject.hpp"

namespace recon {
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
