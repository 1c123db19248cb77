#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// What is found wrong with a scene while it is worked on.
struct Findings {
  /// Logs a warning and keeps it for the report. Thread-safe.
  void warn(const std::string& text);

  /// Warns of what makes all of the result doubtful; the last line of the run repeats the first `doubt`.
  void warn_of_result(const std::string& text, const std::string& doubt);

  /// Adds a view whose work failed, with a warning "NAME `what`: `reason`".
  void fail(const std::string& view, const char* what, const std::string& reason);

  /// Warns of views that are left out for reasons of their own; many become few warnings.
  void warn_of_left_out(const std::vector<LeftOut>& views);

  /// Whether a text is said for the first time: what is long is said in full once. Thread-safe.
  bool is_new(const std::string& text);

  /// Warns of files that are damaged and used all the same; many become one warning.
  void warn_of_damage(const std::vector<LeftOut>& files);

  std::vector<std::string> warnings;
  std::string doubt;                    ///< see warn_of_result; empty: none
  std::vector<LeftOut> failed;          ///< views whose work failed, beside those that the plan leaves out
  std::optional<bool> photos_fit;       ///< cameras and poses, see check_photos_fit; empty: not known
  std::set<std::string> doubted_views;  ///< names of those that a warning says to be wrong
  std::map<std::string, std::string> photo_doubts;  ///< what corners say against photos, by name

 private:
  std::mutex mutex_;             ///< of the warnings, and of what was said
  std::set<std::string> texts_;  ///< see is_new
};

}  // namespace recon
