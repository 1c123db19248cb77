#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace recon {

/// What messages are about, such as one of the inputs that are worked on side by side; null: nothing.
using MessageSubject = std::shared_ptr<const std::string>;

/// What the messages of the calling thread are about.
const MessageSubject& message_subject() noexcept;
void set_message_subject(MessageSubject subject) noexcept;

/// A message with its subject before it, unless it begins with that itself.
std::string with_subject(std::string_view message);

/// Sets it for the calling thread during its life.
class SubjectScope {
 public:
  explicit SubjectScope(MessageSubject subject) : before_(message_subject()) {
    set_message_subject(std::move(subject));
  }
  ~SubjectScope() { set_message_subject(std::move(before_)); }
  SubjectScope(const SubjectScope&) = delete;
  SubjectScope& operator=(const SubjectScope&) = delete;

 private:
  MessageSubject before_;
};

}  // namespace recon
