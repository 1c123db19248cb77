#include "session/products/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/log.hpp"

namespace recon {

void Findings::warn(const std::string& text) {
  messages().warn("{}", text);
  const std::lock_guard lock(mutex_);
  warnings.push_back(text);
}

void Findings::warn_of_result(const std::string& text, const std::string& what) {
  warn(text);
  const std::lock_guard lock(mutex_);
  if (doubt.empty()) doubt = what;
}

void Findings::fail(const std::string& view, const char* what, const std::string& reason) {
  failed.push_back({view, reason});
  warn(view + " " + what + ": " + reason);
}

void Findings::warn_of_left_out(const std::vector<LeftOut>& views) {
  constexpr std::size_t kNamed = 5;
  for (std::size_t i = 0; i < std::min(kNamed, views.size()); ++i)
    warn(views[i].name + " is left out: " + views[i].reason);
  if (views.size() > kNamed)
    warn(fmt::format("{} more {} left out, such as {}: {}", views.size() - kNamed,
                     views.size() == kNamed + 1 ? "view is" : "views are", views[kNamed].name,
                     views[kNamed].reason));
}

bool Findings::is_new(const std::string& text) {
  const std::lock_guard lock(mutex_);
  return texts_.insert(text).second;
}

void Findings::warn_of_damage(const std::vector<LeftOut>& files) {
  constexpr std::size_t kNamed = 10;
  for (std::size_t i = 0; i < std::min(kNamed, files.size()); ++i)
    warn(files[i].name + ": " + files[i].reason);
  if (files.size() > kNamed)
    warn(fmt::format("{} more files are damaged and used as they are, such as {}: {}", files.size() - kNamed,
                     files[kNamed].name, files[kNamed].reason));
}

}  // namespace recon
