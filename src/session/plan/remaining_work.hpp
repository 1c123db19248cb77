#pragma once

#include <vector>

#include "session/scene/scene_run.hpp"

namespace recon {

/// What is to be done with a scene.
struct RemainingWork {
  std::vector<int> estimate;  ///< views to match
  std::vector<int> check;     ///< views to check
  std::vector<int> prepare;   ///< photos to undistort and write
  bool fuse = false;
};

/// What a run would do; finished and unchanged results are looked for as by the run itself.
RemainingWork remaining_work(SceneRun& run);

/// The work of a finished run by the states of its views. An image counts as prepared if its view was
/// matched.
RemainingWork work_done(const SceneRun& run);

}  // namespace recon
