#pragma once

#include <string_view>
#include <vector>

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/plan/step_clock.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"
#include "session/products/targets.hpp"
#include "session/resume/overwrite_note.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/plan_memory.hpp"
#include "session/scene/scene_work.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// The work on one scene: its parts, of which each step is handed those that it needs. Only who puts them
/// together or reports all of them takes this.
struct SceneJob {
  /// @param session_options  outlive this
  SceneJob(const SessionOptions& session_options, SceneFolder folder, Workspace output, HostLimits limits);

  /// Reads the model and the masks and makes the plan; views whose photo is not there, or whose mask cannot
  /// be used, are left out.
  /// @throws InputError, UsageError, OutOfMemory
  void read();

  /// Makes the plan again without some views.
  void replan(std::vector<LeftOut> left_out);

  /// Reads the photos of all views that are needed and, with `write`, writes them undistorted; those that
  /// cannot be used are left out.
  /// @throws InputError when too little is left, OutputError, Interrupted
  void prepare(bool write);

  /// Takes the depth maps that are there, where the run makes none; views without are failures. Nothing is
  /// written.
  /// @throws InputError when there is none, or some are of other photos, poses or options than this run's
  void collect_estimates();

  /// The active views whose depth maps are not finished and unchanged. Where checks come next, those are
  /// among them whose maps an earlier run removed by --clean, and of which a check has need now.
  std::vector<int> views_to_estimate();

  /// The work but for what an earlier run has finished and is unchanged.
  SceneWork remaining_work();

  /// The predicted seconds of a step for some of its views; 0 where they are unknown.
  double predicted(std::string_view step, int views, int of_all) const;

  PlannedOutput output() const { return {plan, targets, settings, products.workspace}; }

  /// Whether every view that should have come out did.
  bool complete() const { return plan.left_out.empty() && findings.failed.empty(); }

  const SessionOptions& options;
  const SceneSettings settings;
  const Targets targets;
  HostLimits host;
  bool quiet = false;  ///< shows no progress
  SceneInput input;
  ScenePlan plan;
  Findings findings;
  OverwriteNote overwrite_note;
  SceneProducts products;
  const StepInputs inputs;
  MemoryPlan memory;
  StepTimes predicted_steps;  ///< of all their work, for the progress of each; empty: unknown
};

}  // namespace recon
