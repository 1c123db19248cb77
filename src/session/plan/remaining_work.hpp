#pragma once

#include <vector>

#include "session/scene/scene_run.hpp"

namespace recon {

/// The unfinished or finished work of a scene.
struct RemainingWork {
  std::vector<int> estimate;  ///< views to match
  std::vector<int> check;     ///< views to check
  std::vector<int> prepare;   ///< photos to undistort and write
  bool fuse = false;
};

/// The work of a run: all but finished and unchanged results, which are detected as by the run itself.
RemainingWork remaining_work(SceneRun& run);

/// The work of a finished run by the states of its views. An image counts as prepared if its view was
/// matched.
RemainingWork work_done(const SceneRun& run);

}  // namespace recon
