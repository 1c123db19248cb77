#include "session/resume/step_inputs.hpp"

#include <algorithm>

#include "core/version.hpp"
#include "fuse/fusion.hpp"
#include "session/pair/matching_inputs.hpp"
#include "session/plan/plan_pairs.hpp"

namespace recon {

namespace {

using nlohmann::json;

json describe(const Pinhole& camera) {
  return {camera.width, camera.height, camera.fx, camera.fy, camera.cx, camera.cy};
}

json describe(const Pose& pose) {
  json numbers = json::array();
  for (const double value : pose.rotation.m) numbers.push_back(value);
  for (const double value : {pose.translation.x, pose.translation.y, pose.translation.z})
    numbers.push_back(value);
  return numbers;
}

json describe(const Camera& camera) {
  return {{"model", model_name(camera.model)},
          {"width", camera.width},
          {"height", camera.height},
          {"params", camera.params}};
}

/// The pixels and the place of an undistorted image.
json describe_image(const SceneRun& run, int view) {
  return {{"name", run.plan.name(view)},
          {"photo", run.state(view).photo_hash},
          {"lens", describe(run.plan.photo_camera(view))},
          {"camera", describe(run.plan.view(view).camera)},
          {"pose", describe(run.plan.scene_view(view).cam_from_world)}};
}

json hashes(const StepRecord& record) {
  json list = json::array();
  for (const OutputFile& file : record.outputs) list.push_back(file.identity.hash);
  return list;
}

/// The depth maps of a view, and where they are in space.
json describe_maps(const SceneRun& run, int view) {
  return {{"maps", hashes(*run.state(view).estimate)},
          {"camera", describe(run.plan.view(view).camera)},
          {"pose", describe(run.plan.scene_view(view).cam_from_world)}};
}

json describe(const ConsistencyOptions& options) {
  return {{"max_depth_error", options.max_relative_depth},
          {"max_normal_angle", options.max_angle_degrees},
          {"min_views", options.min_views}};
}

json sweep_inputs(const SceneRun& run, const ViewPlan& plan) {
  const SweepOptions& sweep = run.options.sweep;
  const auto& [paths, p1, p2, p2_falloff] = run.options.sweep_paths.penalties;
  const PhotometricFilterOptions filter = run.options.resolved_filter();
  json sources = json::array();
  for (const int source : plan.sources) sources.push_back(describe_image(run, source));
  return {{"method", "planesweep"},
          {"sources", std::move(sources)},
          {"planes", plan.planes},
          {"cost", sweep.cost == CostKind::kZncc ? "zncc" : "sad"},
          {"window", sweep.window},
          {"combine", static_cast<int>(sweep.combination)},
          {"best_k", sweep.best_k},
          {"colour", run.options.colour},
          {"optimizer", static_cast<int>(run.options.optimizer)},
          {"penalties", {paths, p1, p2, p2_falloff}},
          {"stages", stage_inputs(run.options.sweep_stages)},
          {"max_cost", filter.max_cost},
          {"min_confidence", filter.min_confidence},
          {"min_texture", filter.min_texture}};
}

json pairs_inputs(const SceneRun& run, const ViewPlan& plan) {
  json inputs = matching_inputs(pair_depth_options(run.options).matching);
  json sources = json::array();
  for (const ViewPair& it : plan.pairs) sources.push_back(describe_image(run, it.source));
  inputs["sources"] = std::move(sources);
  return inputs;
}

}  // namespace

json prepare_inputs(const SceneRun& run, int view, const std::string& photo_hash) {
  return {{"program", version()},
          {"photo", photo_hash},
          {"lens", describe(run.plan.photo_camera(view))},
          {"camera", describe(run.plan.view(view).camera)}};
}

json estimate_inputs(const SceneRun& run, int view) {
  const ViewPlan& plan = run.plan.view(view);
  json inputs = run.job.method == Method::kPlaneSweep ? sweep_inputs(run, plan) : pairs_inputs(run, plan);
  inputs["program"] = version();
  inputs["reference"] = describe_image(run, view);
  inputs["depth_min"] = plan.range.near;
  inputs["depth_max"] = plan.range.far;
  inputs["speckle"] = run.options.filter.speckle_size;
  inputs["median"] = run.options.filter.median;
  return inputs;
}

json check_inputs(const SceneRun& run, int view, const std::vector<int>& sources) {
  json source_maps = json::object();
  for (const int source : sources) source_maps[run.plan.name(source)] = describe_maps(run, source);
  return {{"program", version()},
          {"reference", describe_maps(run, view)},
          {"sources", std::move(source_maps)},
          {"consistency", describe(run.options.consistency)}};
}

PlyPosition cloud_position(const SceneRun& run, const std::vector<int>& views) {
  const bool floats = std::all_of(views.begin(), views.end(), [&](int view) {
    const FusionView it{run.plan.view(view).camera, run.plan.scene_view(view).cam_from_world, {}};
    return floats_suffice(it, run.plan.view(view).range.near, run.options.point_spacing);
  });
  return floats ? PlyPosition::kFloat : PlyPosition::kDouble;
}

json fusion_inputs(const SceneRun& run, const std::vector<int>& views) {
  json maps = json::object(), indices = json::object();
  const std::vector<int> dense_index = dense_indices(run.plan);
  for (const int view : views) {
    maps[run.plan.name(view)] = {{"maps", hashes(*run.state(view).check)},
                                 {"image", describe_image(run, view)}};
    indices[run.plan.name(view)] = dense_index[static_cast<std::size_t>(view)];
  }
  return {{"program", version()},
          {"views", std::move(maps)},
          {"indices", std::move(indices)},
          {"positions", cloud_position(run, views) == PlyPosition::kDouble ? "double" : "float"},
          {"agreement", describe(run.options.consistency)},
          {"min_fused_views", run.options.min_fused_views},
          {"point_spacing", run.options.point_spacing}};
}

}  // namespace recon
