#pragma once

#include <string>
#include <vector>

namespace recon {

/// The exit code that `reconstruct` would have, and why.
struct InProcessResult {
  int exit_code;
  std::string message;
};

/// What `reconstruct` does with a command line, without a process of its own.
InProcessResult reconstruct_in_process(const std::vector<std::string>& words);

}  // namespace recon
