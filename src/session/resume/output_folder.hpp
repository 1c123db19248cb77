#pragma once

#include <memory>
#include <string>

#include "session/resume/output_lock.hpp"
#include "session/scene/workspace.hpp"

namespace recon {

/// What the results in an output folder are of.
enum class OutputKind { kScene, kPair };

/// How a run takes its output folder.
struct OutputAccess {
  OutputKind kind = OutputKind::kScene;
  bool overwrite = false;  ///< also a folder that holds files of others, or results of the other kind
  bool wait = false;       ///< until another process is done with the folder
  std::string shared_key;  ///< as OutputLock has it
};

/// An output folder while this process may write into it.
struct TakenOutput {
  std::unique_ptr<OutputLock> lock;
  bool has_results = false;  ///< of an earlier run, and of the same kind
};

/// Locks an output folder, creates it where missing, and removes the temporary files of killed runs. Without
/// `overwrite` the folder has to be new, empty, or to hold results of the same kind.
/// @throws UsageError that says what the folder holds, or who is writing there
/// @throws OutputError, Interrupted
TakenOutput take_output(const Workspace& workspace, const OutputAccess& access);

/// Marks a taken folder as one of ours; call it before the first result is written or removed.
/// @throws OutputError
void mark_output(const Workspace& workspace, OutputKind kind);

}  // namespace recon
