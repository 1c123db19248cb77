#include "core/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "core/json_messages.hpp"

namespace recon {
namespace {

std::atomic<bool> stop_asked{false}, announces{true};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int number) {
  if (stop_asked.exchange(true)) std::_Exit(128 + number);
  if (!announces) return;
  constexpr std::string_view kMessage = "\nstopping, finished work is kept; once more ends at once\n";
  constexpr std::string_view kObject =
      "{\"message\":\"stopping, finished work is kept; once more ends at once\"}\n";
  const std::string_view text = json_messages() ? kObject : kMessage;
  // A failed write of the message is ignored.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void install_interrupt_handler(bool announce) {
  announces = announce;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept {
  return stop_asked.load(std::memory_order_relaxed);
}

void check_interrupted() {
  fault_point(FaultPoint::kWork);
  if (interrupted()) throw Interrupted();
}

}  // namespace recon
