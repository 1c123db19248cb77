#pragma once

#include <string>
#include <vector>

#include "session/scene/scene_job.hpp"
#include "session/scene/scene_work.hpp"

namespace recon {

// What the plan of a scene says of the results of earlier runs.

/// Why they do not serve: a line for each step and cause, with the number of views; empty: there are none.
std::string stale_text(const SceneJob& job, const SceneWork& work);

/// What the run removes, see `removals`, and by --clean.
std::vector<std::string> removed_texts(const SceneJob& job, const SceneWork& work);

}  // namespace recon
