#include "session/scene/step_inputs.hpp"

#include <algorithm>

#include "core/version.hpp"
#include "session/options/option_text.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/dense_model.hpp"

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

json hashes(const StepRecord& record) {
  json list = json::array();
  for (const OutputFile& file : record.outputs) list.push_back(file.identity.hash);
  return list;
}

}  // namespace

/// Options that have an effect on some results.
json StepInputs::with_options(std::initializer_list<OptionResult> results) const {
  return {{"version", kResultsVersion}, {"options", options_.of(results)}};
}

/// What is black and white in 16-bit photos, where that is not the whole range.
void StepInputs::add_levels(json& inputs) const {
  const SampleLevels levels = input_.levels;
  if (!(levels == SampleLevels{})) inputs["levels"] = {levels.black, levels.white};
}

/// Which part of its photo a face is.
void StepInputs::add_face(int view, json& inputs) const {
  if (const auto& face = plan_.scene_view(view).face) inputs["face"] = face->face_from_photo.m;
}

/// The mask of a view that has one.
void StepInputs::add_mask(int view, json& inputs) const {
  if (const std::string& hash = plan_.scene_view(view).mask_hash; !hash.empty()) inputs["mask"] = hash;
}

/// The pixels and the place of an undistorted image.
json StepInputs::image(int view) const {
  json image = {{"name", plan_.name(view)},
                {"photo", products_.photo_hashes.at(plan_.name(view))},
                {"lens", describe(plan_.photo_camera(view))},
                {"camera", describe(plan_.view(view).camera)},
                {"pose", describe(plan_.scene_view(view).cam_from_world)}};
  add_levels(image);
  add_face(view, image);
  return image;
}

/// The depth maps of a view, and where they are in space; which of its areas planes fill, once that is known.
json StepInputs::maps(int view) const {
  json maps = {{"maps", hashes(*products_.result(Step::kEstimate, view))},
               {"camera", describe(plan_.view(view).camera)},
               {"pose", describe(plan_.scene_view(view).cam_from_world)}};
  const std::string& name = plan_.view(view).output_name;
  const auto add = [&](const char* member, const std::string& file) {
    if (std::string hash = products_.results.hash_of({Step::kPlanes}, file); !hash.empty())
      maps[member] = std::move(hash);
  };
  add("filled", Workspace::plane_file(name));
  add("prior", Workspace::prior_file(name));
  return maps;
}

json StepInputs::prepare(int view, const std::string& photo_hash) const {
  json inputs = {{"version", kResultsVersion},
                 {"photo", photo_hash},
                 {"lens", describe(plan_.photo_camera(view))},
                 {"camera", describe(plan_.view(view).camera)}};
  add_levels(inputs);
  add_face(view, inputs);
  add_mask(view, inputs);
  return inputs;
}

/// Of a map that is read and not estimated.
json StepInputs::given(int view) const {
  json inputs = with_options({OptionResult::kDepthMaps});
  inputs["given"] = input_.given.identity(plan_.name(view));
  inputs["camera"] = describe(plan_.view(view).camera);
  const DepthRange& bounds = settings_.matching.bounds;
  if (bounds.near > kAnyDepth.near) inputs["depth_min"] = bounds.near;
  if (bounds.far < kAnyDepth.far) inputs["depth_max"] = bounds.far;
  add_face(view, inputs);
  add_mask(view, inputs);
  return inputs;
}

json StepInputs::estimate(int view) const {
  if (input_.given.any()) return given(view);
  const ViewPlan& plan = plan_.view(view);
  json inputs = with_options({OptionResult::kDepthMaps});
  inputs["reference"] = image(view);
  inputs["sources"] = json::array();
  for (const int source : plan.matched_views()) inputs["sources"].push_back(image(source));
  inputs["depth_min"] = plan.range.near;
  inputs["depth_max"] = plan.range.far;
  if (settings_.matching.sweeps())
    inputs["expected"] = {plan.expected.near, plan.expected.far, !plan.expected.guessed};
  add_mask(view, inputs);
  return inputs;
}

json StepInputs::planes(const std::vector<int>& views) const {
  json inputs = with_options({OptionResult::kPlanes, OptionResult::kCheck, OptionResult::kAgreement});
  for (const int view : views) {
    json of_view = maps(view);
    of_view.erase("filled");
    of_view.erase("prior");
    if (input_.prior.is_readable(plan_.name(view)))
      of_view["given_prior"] = input_.prior.identity(plan_.name(view));
    of_view["image"] = image(view);
    for (const int source : plan_.view(view).sources) of_view["asked"].push_back(plan_.name(source));
    inputs["views"][plan_.name(view)] = std::move(of_view);
  }
  return inputs;
}

json StepInputs::check(int view, const std::vector<int>& sources) const {
  json source_maps = json::object();
  for (const int source : sources) source_maps[plan_.name(source)] = maps(source);
  json inputs = with_options({OptionResult::kPlanes, OptionResult::kCheck, OptionResult::kAgreement});
  inputs["reference"] = maps(view);
  inputs["sources"] = std::move(source_maps);
  if (const StepRecord* const planes = products_.results.get({Step::kPlanes}))
    inputs["planes"] = content_hash(json_text(planes->result.at("planes")));
  if (settings_.check.patches) add_mask(view, inputs);
  return inputs;
}

json StepInputs::fusion(const std::vector<int>& views) const {
  json maps = json::object(), indices = json::object();
  const std::vector<int> dense_index = dense_indices(plan_);
  const std::vector<std::vector<int>> overlaps = plan_.overlaps();
  for (const int view : views) {
    json overlapping = json::array();
    for (const int other : overlaps[view]) overlapping.push_back(plan_.name(other));
    maps[plan_.name(view)] = {{"maps", hashes(*products_.result(Step::kCheck, view))},
                              {"image", image(view)},
                              {"overlapping", std::move(overlapping)}};
    indices[plan_.name(view)] = dense_index[view];
  }
  json inputs = with_options({OptionResult::kAgreement, OptionResult::kCloud, OptionResult::kCloudFile});
  inputs["views"] = std::move(maps);
  inputs["indices"] = std::move(indices);
  const auto& [type, offset] = cloud_coordinates(plan_, settings_.cloud, views);
  inputs["positions"] = type == PlyPosition::kDouble ? "double" : "float";
  // That of `auto` too: it may be the one that was given.
  if (const std::string text = offset_text(offset); text.empty())
    inputs["options"].erase("offset");
  else
    inputs["options"]["offset"] = text;
  return inputs;
}

json StepInputs::tiles() const {
  json inputs = with_options({OptionResult::kTiles});
  inputs["cloud"] = hashes(*products_.results.get({Step::kFusion}));
  inputs["named_by"] = "corner";
  return inputs;
}

json StepInputs::exported() const {
  json inputs = with_options({OptionResult::kExport});
  inputs["cloud"] = hashes(*products_.results.get({Step::kFusion}));
  if (settings_.cloud.export_priors != PriorFormat::kNone)
    for (const int view : products_.views_with(Step::kCheck))
      inputs["maps"][plan_.name(view)] = hashes(*products_.result(Step::kCheck, view));
  return inputs;
}

}  // namespace recon
