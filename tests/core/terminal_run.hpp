#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "core/terminal_screen.hpp"

namespace recon {

/// What a process left on its terminal.
struct TerminalRun {
  int exit_code = -1;  ///< -1: ended by a signal
  TerminalScreen screen;
  std::string bytes;
};

/// Whether this system has pseudo-terminals: a container may lack /dev/pts.
inline bool has_pseudo_terminals() {
  int terminal = -1, process = -1;
  if (openpty(&terminal, &process, nullptr, nullptr, nullptr) != 0) return false;
  close(terminal);
  close(process);
  return true;
}

/// Runs a function in a process whose standard input, output and error are a terminal.
/// @param work  returns the exit code
inline TerminalRun run_in_terminal(int columns, int rows, const std::function<int()>& work) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("no pseudo-terminal can be made");
  if (child == 0) _exit(work());
  TerminalRun run{-1, TerminalScreen(columns, rows), {}};
  char bytes[4096];
  for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;)
    run.bytes.append(bytes, static_cast<std::size_t>(count));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  run.screen.put(run.bytes);
  return run;
}

}  // namespace recon
