#pragma once

#include <map>
#include <vector>

#include "session/scene/scene_run.hpp"

namespace recon {

/// The unfinished or finished tasks of a scene: the views of each step. Fusion is one task, of all its views.
using SceneWork = std::map<Step, std::vector<int>>;

/// The active views whose depth maps are not finished and unchanged. Where checks come next, those are among
/// them whose maps an earlier run removed by --clean, and of which a check has need now.
std::vector<int> views_to_estimate(SceneRun& run);

/// The views in scope whose maps --clean has removed, and of which a check has need now.
std::vector<int> cleaned_but_needed(SceneRun& run);

/// The work of a run: all but finished and unchanged results, which are detected as by the run itself.
SceneWork remaining_work(SceneRun& run);

/// All work of a run, as if nothing were finished.
SceneWork all_work(const SceneRun& run);

/// The work of a finished run, by its results. The image of a view that was matched was prepared.
SceneWork work_done(const SceneRun& run);

}  // namespace recon
