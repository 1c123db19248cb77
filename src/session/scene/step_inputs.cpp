#include "session/scene/step_inputs.hpp"

#include <algorithm>

#include "core/version.hpp"
#include "session/options/option.hpp"
#include "session/plan/plan.hpp"
#include "session/scene/cloud_offset.hpp"

namespace recon {

namespace {

using nlohmann::json;

json describe(const Pinhole& camera) {
  return {camera.width, camera.height, camera.fx, camera.fy, camera.cx, camera.cy};
}

json describe(const Pose& pose) {
  json numbers = pose.rotation.m;
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

/// What is black and white in 16-bit photos, where that is not the whole range.
void add_levels(const SceneRun& run, json& inputs) {
  const SampleLevels levels = run.photos.levels();
  if (!(levels == SampleLevels{})) inputs["levels"] = {levels.black, levels.white};
}

/// Which part of its photo a face is.
void add_face(const SceneRun& run, int view, json& inputs) {
  if (const auto& face = run.plan.scene_view(view).face) inputs["face"] = face->face_from_photo.m;
}

/// The pixels and the place of an undistorted image.
json describe_image(const SceneRun& run, int view) {
  json image = {{"name", run.plan.name(view)},
                {"photo", run.photo_hashes.at(run.plan.name(view))},
                {"lens", describe(run.plan.photo_camera(view))},
                {"camera", describe(run.plan.view(view).camera)},
                {"pose", describe(run.plan.scene_view(view).cam_from_world)}};
  add_levels(run, image);
  add_face(run, view, image);
  return image;
}

/// The mask of a view that has one.
void add_mask(const SceneRun& run, int view, json& inputs) {
  if (const std::string& hash = run.plan.scene_view(view).mask_hash; !hash.empty()) inputs["mask"] = hash;
}

json hashes(const StepRecord& record) {
  json list = json::array();
  for (const OutputFile& file : record.outputs) list.push_back(file.identity.hash);
  return list;
}

/// The depth maps of a view, and where they are in space.
json describe_maps(const SceneRun& run, int view) {
  return {{"maps", hashes(*run.result(Step::kEstimate, view))},
          {"camera", describe(run.plan.view(view).camera)},
          {"pose", describe(run.plan.scene_view(view).cam_from_world)}};
}

/// Inputs of a step with the options that have an effect on these of its results.
json inputs_with(const SceneRun& run, std::initializer_list<OptionResult> results) {
  return {{"version", kResultsVersion}, {"options", values_of(run.options, run.job, results)}};
}

}  // namespace

json prepare_inputs(const SceneRun& run, int view, const std::string& photo_hash) {
  json inputs = {{"version", kResultsVersion},
                 {"photo", photo_hash},
                 {"lens", describe(run.plan.photo_camera(view))},
                 {"camera", describe(run.plan.view(view).camera)}};
  add_levels(run, inputs);
  add_face(run, view, inputs);
  add_mask(run, view, inputs);
  return inputs;
}

/// Of a map that is read and not estimated.
static json given_inputs(const SceneRun& run, int view) {
  json inputs = inputs_with(run, {OptionResult::kDepthMaps});
  inputs["given"] = run.given.identity(run.plan.name(view));
  inputs["camera"] = describe(run.plan.view(view).camera);
  const DepthRangeOptions& bounds = run.options.depth;
  if (bounds.near) inputs["depth_min"] = *bounds.near;
  if (bounds.far) inputs["depth_max"] = *bounds.far;
  add_face(run, view, inputs);
  add_mask(run, view, inputs);
  return inputs;
}

json estimate_inputs(const SceneRun& run, int view) {
  if (run.given.any()) return given_inputs(run, view);
  const ViewPlan& plan = run.plan.view(view);
  json inputs = inputs_with(run, {OptionResult::kDepthMaps});
  inputs["reference"] = describe_image(run, view);
  inputs["sources"] = json::array();
  for (const int source : plan.matched_views()) inputs["sources"].push_back(describe_image(run, source));
  inputs["depth_min"] = plan.range.near;
  inputs["depth_max"] = plan.range.far;
  if (run.job.method == Method::kPlaneSweep)
    inputs["expected"] = {plan.expected.near, plan.expected.far, plan.expected.from_points};
  add_mask(run, view, inputs);
  return inputs;
}

json check_inputs(const SceneRun& run, int view, const std::vector<int>& sources) {
  json source_maps = json::object();
  for (const int source : sources) source_maps[run.plan.name(source)] = describe_maps(run, source);
  json inputs = inputs_with(run, {OptionResult::kCheck, OptionResult::kAgreement});
  inputs["reference"] = describe_maps(run, view);
  inputs["sources"] = std::move(source_maps);
  if (run.options.swept_by_patches(run.job)) add_mask(run, view, inputs);
  return inputs;
}

json fusion_inputs(const SceneRun& run, const std::vector<int>& views) {
  json maps = json::object(), indices = json::object();
  const std::vector<int> dense_index = dense_indices(run.plan);
  const std::vector<std::vector<int>> overlaps = run.plan.overlaps();
  for (const int view : views) {
    json overlapping = json::array();
    for (const int other : overlaps[view]) overlapping.push_back(run.plan.name(other));
    maps[run.plan.name(view)] = {{"maps", hashes(*run.result(Step::kCheck, view))},
                                 {"image", describe_image(run, view)},
                                 {"overlapping", std::move(overlapping)}};
    indices[run.plan.name(view)] = dense_index[view];
  }
  json inputs = inputs_with(run, {OptionResult::kAgreement, OptionResult::kCloud, OptionResult::kCloudFile});
  inputs["views"] = std::move(maps);
  inputs["indices"] = std::move(indices);
  const auto& [type, offset] = cloud_coordinates(run, views);
  inputs["positions"] = type == PlyPosition::kDouble ? "double" : "float";
  // That of `auto` too: it may be the one that was given.
  if (const std::string text = offset_text(offset); text.empty())
    inputs["options"].erase("offset");
  else
    inputs["options"]["offset"] = text;
  return inputs;
}

json tile_inputs(const SceneRun& run) {
  json inputs = inputs_with(run, {OptionResult::kTiles});
  inputs["cloud"] = hashes(*run.results.get({Step::kFusion}));
  inputs["named_by"] = "corner";
  return inputs;
}

json export_inputs(const SceneRun& run) {
  json inputs = inputs_with(run, {OptionResult::kExport});
  inputs["cloud"] = hashes(*run.results.get({Step::kFusion}));
  return inputs;
}

}  // namespace recon
