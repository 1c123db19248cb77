#include "session/pair/matching_inputs.hpp"

namespace recon {

namespace {

using nlohmann::json;

// Every option is named where the structure is taken apart, so that none can be forgotten: one more does not
// compile.

json describe(const SemiGlobalPairOptions& options) {
  const auto& [transform_options, optimizer, outside_cost, uniqueness, left_right, subpixel, median] =
      options;
  const auto& [transform, rank_window] = transform_options;
  const auto& [paths, p1, p2, p2_falloff] = optimizer;
  return {{"method", "sgm"},
          {"cost", static_cast<int>(transform)},
          {"rank_window", rank_window},
          {"paths", paths},
          {"p1", p1},
          {"p2", p2},
          {"p2_falloff", p2_falloff},
          {"outside_cost", outside_cost},
          {"uniqueness", uniqueness},
          {"left_right", left_right},
          {"subpixel", subpixel},
          {"pair_median", median}};
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
  const auto& [iterations, first] = cross_based;
  return {{"kind", static_cast<int>(kind)},  {"constant_radius", constant_radius},
          {"adaptive_radius", radius},       {"gamma_colour", gamma_colour},
          {"gamma_space", gamma_space},      {"reach", reach},
          {"near_reach", near_reach},        {"colour", colour},
          {"strict_colour", strict_colour},  {"iterations", iterations},
          {"first", static_cast<int>(first)}};
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

json describe(const PipelineRefinement& steps, const VotingOptions& voting) {
  const auto& [graph_cut, left_right, vote, interpolate, edges, subpixel, median] = steps;
  const auto& [min_votes, min_share, iterations] = voting;
  return {{"steps", {graph_cut, left_right, vote, interpolate, edges, subpixel, median}},
          {"min_votes", min_votes},
          {"min_share", min_share},
          {"iterations", iterations}};
}

json describe(const PipelineOptions& options) {
  const auto& [cost, colour_cap, ad_census, transform_options, outside_cost, aggregation, optimizer,
               semi_global, scanline, graph_cut, refinement, left_right, voting] = options;
  const auto& [lambda_ad, lambda_census] = ad_census;
  const auto& [transform, rank_window] = transform_options;
  const auto& [paths, p1, p2, p2_falloff] = semi_global;
  return {{"method", "pipeline"},
          {"cost", static_cast<int>(cost)},
          {"colour_cap", colour_cap},
          {"lambda_ad", lambda_ad},
          {"lambda_census", lambda_census},
          {"transform", static_cast<int>(transform)},
          {"rank_window", rank_window},
          {"outside_cost", outside_cost},
          {"aggregation", describe(aggregation)},
          {"optimizer", static_cast<int>(optimizer)},
          {"sgm", {{"paths", paths}, {"p1", p1}, {"p2", p2}, {"p2_falloff", p2_falloff}}},
          {"scanline", describe(scanline)},
          {"graph_cut", describe(graph_cut)},
          {"refinement", describe(refinement, voting)},
          {"left_right", left_right}};
}

}  // namespace

json stage_inputs(const SweepStages& stages) {
  const auto& [aggregation, graph_cut, cut, edges] = stages;
  return {{"aggregation", describe(aggregation)},
          {"graph_cut", graph_cut},
          {"cut", describe(cut)},
          {"edges", edges}};
}

json matching_inputs(const PairOptions& options) {
  switch (options.method) {
    case PairMethod::kSemiGlobal:
      return describe(options.semi_global);
    case PairMethod::kBlockMatching:
      return describe(options.block);
    case PairMethod::kPipeline:
      return describe(options.pipeline);
    default:
      return describe(options.belief);
  }
}

}  // namespace recon
