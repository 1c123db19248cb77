#include "core/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/log_file.hpp"
#include "core/stop.hpp"
#include "core/terminal_lines.hpp"

namespace recon {
namespace {

std::atomic<bool> stop_asked{false};
/// The scopes of the process: kOne each, and 1 for each that is stopped. In one number, so that both are of
/// one time.
std::atomic<std::uint64_t> scopes{0};
constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int number) {
  const bool erased = erase_standard_error_lines();  // and the ^C of the terminal before them
  if (stop_asked.exchange(true)) std::_Exit(128 + number);
  constexpr std::string_view kMessage =
      "\nstopping: finished work is kept; a second Ctrl-C ends without waiting\n";
  constexpr std::string_view kObject =
      "{\"message\":\"stopping: finished work is kept; a second Ctrl-C ends without waiting\"}\n";
  const std::string_view text = json_messages() ? kObject : kMessage.substr(erased ? 1 : 0);
  // A failed write of the message is ignored.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept {
  const std::uint64_t now = scopes.load(std::memory_order_relaxed);
  return stop_asked.load(std::memory_order_relaxed) || (now != 0 && now / kOne == now % kOne);
}

StopScope::StopScope(std::stop_token token) : token_(std::move(token)) {
  scopes += kOne;
  on_stop_.emplace(token_, [this] {
    counted_ = true;
    ++scopes;
  });
}

StopScope::~StopScope() {
  on_stop_.reset();
  scopes -= kOne + (counted_ ? 1 : 0);
}

void StopScope::check() const {
  if (token_.stop_requested()) throw Interrupted();
}

void check_interrupted() {
  fault_point(FaultPoint::kWork);
  if (interrupted()) throw Interrupted();
}

}  // namespace recon
