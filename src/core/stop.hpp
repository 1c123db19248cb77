#pragma once

#include <functional>
#include <optional>
#include <stop_token>

namespace recon {

/// Lets a token stop the work of one call during its life. Loops do not know for which call they work: where
/// several are at work at once, `interrupted` says so once all of them are to stop, and one that is to stop
/// alone does its work to the end.
class StopScope {
 public:
  explicit StopScope(std::stop_token token);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// @throws Interrupted once the token is stopped
  void check() const;

 private:
  std::stop_token token_;
  bool counted_ = false;  ///< among those that are stopped
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace recon
