#pragma once

#include <iosfwd>

#include "core/program.hpp"
#include "session/options/options.hpp"

namespace recon {

/// Does what the options ask for, scene by scene. A scene that fails is reported, and the others are still
/// done.
/// @param out  for the result: a short summary, the plan, or with `json` one object
/// @returns the exit code: 0, or the worst of the scenes (7: some views failed)
/// @throws UsageError, InputError (no such scene), DeviceUnavailable: nothing was begun; Interrupted
int run_session(const SessionOptions& options, std::ostream& out);

/// What a session that fails advises its user to do.
inline const Advice kSessionAdvice{"--memory-limit, --max-image-size and --threads lower what is taken",
                                   "what was finished is kept, and the same command goes on from there"};

}  // namespace recon
