#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/export.hpp"

namespace reconstruct {

/// How far a step of a scene is.
struct Progress {
  std::string step;  ///< such as "depth maps"
  int done = 0, total = 0;
  double seconds = 0;  ///< since the step began
  double left = 0;     ///< that it will still take, predicted; 0: unknown, or none
};

enum class MessageLevel { kDebug, kInfo, kWarning, kError };

/// What the caller of `run` wants to know meanwhile. Functions that are empty are not called; the others are
/// called one at a time, in the order of what happened, on a thread of their own, and should return soon: the
/// run goes on during a call about a message, waits during one about progress, and ends after the last call.
/// They may call the library, but not `run`: it throws UsageError. An exception of one stops the run and is
/// thrown by `run`.
struct Listener {
  std::function<void(const Progress& progress)> progress;
  std::function<void(MessageLevel level, const std::string& text)> message;
};

struct RunResult {
  bool complete = true;  ///< else some views, or some of several inputs, failed
  std::string json;      ///< what `reconstruct --json` prints: exit_code, and scenes with the report of each
};

/// Reconstructs scenes and rectified pairs, as `reconstruct INPUT...` does: reads files, writes its results
/// and reports into the output folder, resumes what was begun. Results are the same, byte for byte.
/// @param inputs   folders of scenes or pairs, folders or lists of them; or the two images of one pair
/// @param options  by name; also `device`, `threads`, `memory-limit`, `gpu-memory-limit`, `output`. Those of
/// the terminal (quiet, verbose, json, help, version) are refused; or a SceneOptions or PairOptions
/// @param listener  what is called meanwhile
/// @param stop  ends the call, as a rule within a tenth of a second
/// @throws UsageError, InputError, OutputError, OutOfMemory, DeviceUnavailable, DeviceError when no input has
/// results: of several the error of the first
/// @throws Interrupted once `stop` is stopped; what was finished is kept, and the next run goes on from there
/// Thread safety: one run at a time in a process; others wait for it, or until they are stopped. Nothing is
/// printed, no signal is changed. During a run, oneTBB's loops in the whole process take at most `threads`
/// threads.
RECONSTRUCT_API RunResult run(const std::vector<std::filesystem::path>& inputs, const Options& options = {},
                              const Listener& listener = {}, std::stop_token stop = {});

}  // namespace reconstruct
