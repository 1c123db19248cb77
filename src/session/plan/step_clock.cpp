#include "session/plan/step_clock.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace recon {

double seconds_since_process_start() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The name, in parentheses, may hold anything; field 3 follows it and field 22 is the start, in ticks.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i)
    if (!(fields >> field)) return 0;
  timespec now{};
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0 || ticks <= 0) return 0;
  const double started = std::strtod(field.c_str(), nullptr) / static_cast<double>(ticks);
  return std::max(0.0, static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started);
}

}  // namespace recon
