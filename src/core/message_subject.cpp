#include "core/message_subject.hpp"

#include <utility>

namespace recon {

namespace {

MessageSubject& subject_of_thread() noexcept {
  static thread_local MessageSubject subject;
  return subject;
}

}  // namespace

const MessageSubject& message_subject() noexcept {
  return subject_of_thread();
}

void set_message_subject(MessageSubject subject) noexcept {
  subject_of_thread() = std::move(subject);
}

std::string with_subject(std::string_view message) {
  const MessageSubject& subject = message_subject();
  std::string text(message);
  return subject && !message.starts_with(*subject) ? *subject + ": " + text : text;
}

}  // namespace recon
