#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/program.hpp"

namespace recon {

struct Outcome;

/// The end of a worker process: takes inputs and returns their outcomes.
class WorkerChannel {
 public:
  virtual ~WorkerChannel() = default;
  /// The next input that no worker has taken; empty: none is left.
  virtual std::optional<std::size_t> next() = 0;
  virtual void send(std::size_t input, const Outcome& outcome) = 0;
};

/// Does inputs in several processes at once, each of which takes one after the other. A process has a log, a
/// memory limit and devices of its own; one that is killed loses its input only. Ctrl-C ends them all. Call
/// it while the process has no other threads.
/// @param workers  number of processes, >= 1
/// @param inputs   their number
/// @param work     the work of a process, by its index; an exception ends the session
/// @param done     called in this process, in the order in which inputs are done
/// @param lost     the same, for an input whose process has ended before: with its exit code and the reason
/// @returns what ended the session before its end
/// @throws OutputError when no process can be created; Interrupted
std::optional<Failure> run_workers(int workers, std::size_t inputs,
                                   const std::function<void(int worker, WorkerChannel& channel)>& work,
                                   const std::function<void(std::size_t input, Outcome outcome)>& done,
                                   const std::function<void(std::size_t input, const Failure& reason)>& lost);

}  // namespace recon
