#pragma once

#include <vector>

#include "session/scene/scene_run.hpp"

namespace recon {

/// The unfinished or finished work of a scene.
struct RemainingWork {
  std::vector<int> estimate, check;  ///< views to match and to check
  std::vector<int> prepare;          ///< photos to undistort and write
  bool fuse = false;
};

/// The active views whose depth maps are not finished and unchanged. Where checks come next, those are among
/// them whose maps an earlier run removed by --clean, and of which a check has need now.
std::vector<int> views_to_estimate(SceneRun& run);

/// The views in scope whose maps --clean has removed, and of which a check has need now.
std::vector<int> cleaned_but_needed(SceneRun& run);

/// The work of a run: all but finished and unchanged results, which are detected as by the run itself.
RemainingWork remaining_work(SceneRun& run);

/// All work of a run, as if nothing were finished.
RemainingWork all_work(const SceneRun& run);

/// The work of a finished run, by its results. The image of a view that was matched was prepared.
RemainingWork work_done(const SceneRun& run);

}  // namespace recon
