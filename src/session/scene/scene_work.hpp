#pragma once

#include <map>
#include <vector>

#include "session/products/findings.hpp"
#include "session/products/scene_products.hpp"
#include "session/products/targets.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// The unfinished or finished tasks of a scene in their order: the views of each step. The steps after the
/// check are each one task of all their views.
using SceneWork = std::map<Step, std::vector<int>>;

/// All work of a run, as if nothing were finished.
SceneWork all_work(const Targets& targets, const ScenePlan& plan);

/// Supersedes all results of earlier runs that a run is to make again, see ResultStore.
/// @throws OutputError
void supersede(const Targets& targets, const SceneProducts& products);

/// What a finished run has made, and did not find finished.
SceneWork made(const Targets& targets, const SceneProducts& products);

/// The same by the time that it took: the photo of a view that was matched was decoded, also where its image
/// was there.
SceneWork work_done(const Targets& targets, const SceneProducts& products);

/// What of a run an earlier one has left: results whose records still hold.
class FinishedWork {
 public:
  /// The arguments outlive this; the photos that are needed have been read.
  FinishedWork(SceneProducts& products, const StepInputs& inputs, const Targets& targets)
      : products_(products), inputs_(inputs), targets_(targets) {}

  /// The active views whose depth maps are not finished and unchanged. Where checks come next, those are
  /// among them whose maps an earlier run removed by --clean, and of which a check has need now.
  std::vector<int> views_to_estimate();

  /// The work of a run but for finished and unchanged results, which are found as by the run itself.
  SceneWork remaining();

  /// Takes the depth maps that are there, where the run makes none; views without are failures. Nothing is
  /// written.
  /// @throws InputError when there is none, or some are of other photos, poses or options than this run's
  void collect_estimates(Findings& findings);

 private:
  bool is_cleaned(int view) const;
  bool find_planes();
  bool is_checked(int view);
  std::vector<int> cleaned_but_needed();
  void refuse_changed(const std::vector<int>& views) const;

  SceneProducts& products_;
  const ScenePlan& plan_ = products_.plan;
  const StepInputs& inputs_;
  const Targets& targets_;
};

}  // namespace recon
