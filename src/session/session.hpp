#pragma once

#include <iosfwd>

#include "session/options.hpp"

namespace recon {

/// Does what the options ask for, scene by scene. A scene that fails is reported, and the others are still
/// done.
/// @param out  for the result: a short summary, the plan, or with `json` one object
/// @returns the exit code: 0, or the worst of the scenes (7: some views failed)
/// @throws UsageError, InputError (no such scene), DeviceUnavailable: nothing was begun; Interrupted
int run_session(const SessionOptions& options, std::ostream& out);

}  // namespace recon
