#include "session/scene/step_inputs.hpp"

#include <algorithm>

#include "core/version.hpp"
#include "fuse/fusion.hpp"
#include "methods/stereo/pair.hpp"
#include "session/plan/plan.hpp"

namespace recon {

namespace {

using nlohmann::json;

// Every option is named where the structure is taken apart, so that none can be forgotten: one more does not
// compile.

json describe_semi_global(const MethodSpec& spec) {
  const auto& [transform, rank_window] = spec.cost.transform;
  const auto& [paths, p1, p2, p2_falloff] = spec.semi_global;
  const auto& [uniqueness, left_right, subpixel] = winner_checks(spec);
  return {{"method", "sgm"},
          {"cost", static_cast<int>(transform)},
          {"rank_window", rank_window},
          {"paths", paths},
          {"p1", p1},
          {"p2", p2},
          {"p2_falloff", p2_falloff},
          {"outside_cost", spec.cost.outside_cost},
          {"uniqueness", uniqueness},
          {"left_right", left_right},
          {"subpixel", subpixel},
          {"pair_median", spec.refine.median}};
}

json describe(const BlockMatchingOptions& options) {
  const auto& [cost, prefilter, prefilter_cap, radius, steps_per_pixel, subpixel, max_mean_cost, min_texture,
               uniqueness, left_right, median, pyramid_levels, region] = options;
  return {{"method", "bm"},
          {"cost", static_cast<int>(cost)},
          {"prefilter", static_cast<int>(prefilter)},
          {"prefilter_cap", prefilter_cap},
          {"window", 2 * radius + 1},
          {"steps", steps_per_pixel},
          {"subpixel", subpixel},
          {"max_mean_cost", max_mean_cost},
          {"min_texture", min_texture},
          {"uniqueness", uniqueness},
          {"left_right", left_right},
          {"pair_median", median},
          {"pyramid", pyramid_levels},
          {"region", {region.x, region.y, region.width, region.height}}};
}

json describe(const BeliefOptions& options) {
  const auto& [levels, iterations, data_weight, data_cap, smoothness_cap, smoothing_sigma, storage] = options;
  return {{"method", "bp"},           {"levels", levels},
          {"iterations", iterations}, {"data_weight", data_weight},
          {"data_cap", data_cap},     {"smoothness_cap", smoothness_cap},
          {"sigma", smoothing_sigma}, {"storage", static_cast<int>(storage)}};
}

json describe(const AggregationOptions& options) {
  const auto& [kind, constant_radius, adaptive_weight, cross, cross_based] = options;
  const auto& [radius, gamma_colour, gamma_space] = adaptive_weight;
  const auto& [reach, near_reach, colour, strict_colour] = cross;
  const auto& [iterations] = cross_based;
  return {{"kind", static_cast<int>(kind)}, {"constant_radius", constant_radius},
          {"adaptive_radius", radius},      {"gamma_colour", gamma_colour},
          {"gamma_space", gamma_space},     {"reach", reach},
          {"near_reach", near_reach},       {"colour", colour},
          {"strict_colour", strict_colour}, {"iterations", iterations}};
}

json describe(const ScanlineOptions& options) {
  const auto& [p1, p2, edge_threshold] = options;
  return {{"p1", p1}, {"p2", p2}, {"edge_threshold", edge_threshold}};
}

json describe(const GraphCutOptions& options) {
  const auto& [smoothness, smoothness_cap, edge_falloff, best, reach, band_rows, passes] = options;
  return {{"smoothness", smoothness},
          {"smoothness_cap", smoothness_cap},
          {"edge_falloff", edge_falloff},
          {"best", best},
          {"reach", reach},
          {"band_rows", band_rows},
          {"passes", passes}};
}

json describe(const Refinement& steps, const VotingOptions& voting) {
  const auto& [patches, prior, graph_cut, left_right, vote, interpolate, edges, subpixel, median] = steps;
  const auto& [min_votes, min_share, iterations] = voting;
  return {{"steps", {graph_cut, left_right, vote, interpolate, edges, subpixel, median}},
          {"min_votes", min_votes},
          {"min_share", min_share},
          {"iterations", iterations}};
}

json describe_pipeline(const MethodSpec& spec) {
  const auto& [kind, window, combination, best_k, colour_cap, ad_census, transform_options, outside_cost] =
      spec.cost;
  const auto& [lambda_ad, lambda_census] = ad_census;
  const auto& [transform, rank_window] = transform_options;
  const auto& [paths, p1, p2, p2_falloff] = spec.semi_global;
  return {{"method", "pipeline"},
          {"cost", static_cast<int>(kind)},
          {"colour_cap", colour_cap},
          {"lambda_ad", lambda_ad},
          {"lambda_census", lambda_census},
          {"transform", static_cast<int>(transform)},
          {"rank_window", rank_window},
          {"outside_cost", outside_cost},
          {"aggregation", describe(spec.aggregation)},
          {"optimizer", static_cast<int>(spec.optimizer)},
          {"sgm", {{"paths", paths}, {"p1", p1}, {"p2", p2}, {"p2_falloff", p2_falloff}}},
          {"scanline", describe(spec.scanline)},
          {"graph_cut", describe(spec.graph_cut)},
          {"refinement", describe(spec.refine, spec.voting)},
          {"left_right", spec.left_right}};
}

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

/// The pixels and the place of an undistorted image.
json describe_image(const SceneRun& run, int view) {
  json image = {{"name", run.plan.name(view)},
                {"photo", run.state(view).photo_hash},
                {"lens", describe(run.plan.photo_camera(view))},
                {"camera", describe(run.plan.view(view).camera)},
                {"pose", describe(run.plan.scene_view(view).cam_from_world)}};
  add_levels(run, image);
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
  return {{"maps", hashes(*run.state(view).estimate)},
          {"camera", describe(run.plan.view(view).camera)},
          {"pose", describe(run.plan.scene_view(view).cam_from_world)}};
}

json describe(const ConsistencyOptions& options) {
  return {{"max_depth_error", options.max_relative_depth},
          {"max_normal_angle", options.max_angle_degrees},
          {"min_views", options.min_views},
          {"min_lone_confidence", options.min_lone_confidence}};
}

json describe_stages(const MethodSpec& sweep) {
  const auto& [levels, radius, best_k, iterations] = sweep.patch_match;
  return {
      {"aggregation", describe(sweep.aggregation)},
      {"graph_cut", sweep.refine.graph_cut},
      {"cut", describe(sweep.graph_cut)},
      {"edges", sweep.refine.edges},
      {"patches", sweep.refine.patches},
      {"prior", sweep.refine.prior},
      {"patch", {{"levels", levels}, {"radius", radius}, {"best_k", best_k}, {"iterations", iterations}}}};
}

json sweep_inputs(const SceneRun& run, const ViewPlan& plan) {
  const MethodSpec& sweep = run.options.sweep();
  const auto& [paths, p1, p2, p2_falloff] = sweep.semi_global;
  const PhotometricFilterOptions filter = run.options.resolved_filter();
  return {{"method", "planesweep"},
          {"planes", run.options.planes ? json(*run.options.planes) : json("auto")},
          {"expected", {plan.expected.near, plan.expected.far, plan.expected.from_points}},
          {"cost", sweep.cost.kind == CostKind::kZncc ? "zncc" : "sad"},
          {"window", sweep.cost.window},
          {"combine", static_cast<int>(sweep.cost.combination)},
          {"best_k", sweep.cost.best_k},
          {"colour", run.options.colour},
          {"optimizer", static_cast<int>(sweep.optimizer)},
          {"penalties", {paths, p1, p2, p2_falloff}},
          {"stages", describe_stages(sweep)},
          {"max_cost", filter.max_cost},
          {"min_confidence", filter.min_confidence},
          {"min_texture", filter.min_texture}};
}

}  // namespace

json roi_json(const SceneBox& roi) {
  return {roi.min.x, roi.min.y, roi.min.z, roi.max.x, roi.max.y, roi.max.z};
}

json matching_inputs(const MethodSpec& spec) {
  switch (spec.whole) {
    case WholeMethod::kSemiGlobal:
      return describe_semi_global(spec);
    case WholeMethod::kBlockMatching:
      return describe(spec.block);
    case WholeMethod::kNone:
      return describe_pipeline(spec);
    default:
      return describe(spec.belief);
  }
}

json prepare_inputs(const SceneRun& run, int view, const std::string& photo_hash) {
  json inputs = {{"version", kResultsVersion},
                 {"photo", photo_hash},
                 {"lens", describe(run.plan.photo_camera(view))},
                 {"camera", describe(run.plan.view(view).camera)}};
  add_levels(run, inputs);
  add_mask(run, view, inputs);
  return inputs;
}

json estimate_inputs(const SceneRun& run, int view) {
  const ViewPlan& plan = run.plan.view(view);
  json inputs = run.job.method == Method::kPlaneSweep
                    ? sweep_inputs(run, plan)
                    : matching_inputs(pair_depth_options(run.options).matching);
  inputs["version"] = kResultsVersion;
  inputs["reference"] = describe_image(run, view);
  inputs["sources"] = json::array();
  for (const int source : plan.matched_views()) inputs["sources"].push_back(describe_image(run, source));
  inputs["depth_min"] = plan.range.near;
  inputs["depth_max"] = plan.range.far;
  inputs["speckle"] = run.job.method == Method::kPlaneSweep ? run.options.resolved_filter().speckle_size
                                                            : run.options.filter.speckle_size;
  inputs["median"] = run.options.filter.median;
  add_mask(run, view, inputs);
  return inputs;
}

json check_inputs(const SceneRun& run, int view, const std::vector<int>& sources) {
  json source_maps = json::object();
  for (const int source : sources) source_maps[run.plan.name(source)] = describe_maps(run, source);
  json inputs = {{"version", kResultsVersion},
                 {"reference", describe_maps(run, view)},
                 {"sources", std::move(source_maps)},
                 {"consistency", describe(run.options.check_consistency(run.job))}};
  if (run.options.swept_by_patches(run.job)) {
    inputs["min_confidence"] = run.options.min_reliability();
    inputs["max_hole"] = run.options.hole_reach(run.job);
    inputs["speckle"] = run.options.filter.speckle_size;
    add_mask(run, view, inputs);
  }
  return inputs;
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
  const std::vector<std::vector<int>> overlaps = run.plan.overlaps();
  for (const int view : views) {
    json overlapping = json::array();
    for (const int other : overlaps[view]) overlapping.push_back(run.plan.name(other));
    maps[run.plan.name(view)] = {{"maps", hashes(*run.state(view).check)},
                                 {"image", describe_image(run, view)},
                                 {"overlapping", std::move(overlapping)}};
    indices[run.plan.name(view)] = dense_index[view];
  }
  json inputs = {{"version", kResultsVersion},
                 {"views", std::move(maps)},
                 {"indices", std::move(indices)},
                 {"positions", cloud_position(run, views) == PlyPosition::kDouble ? "double" : "float"},
                 {"agreement", describe(run.options.fusion_consistency(run.job))},
                 {"min_fused_views", run.options.min_fused_views},
                 {"point_spacing", run.options.point_spacing}};
  if (run.options.roi) inputs["roi"] = roi_json(*run.options.roi);
  return inputs;
}

json tile_inputs(const SceneRun& run) {
  return {{"version", kResultsVersion}, {"cloud", hashes(run.cloud->record)}, {"tile", run.options.tile}};
}

}  // namespace recon
