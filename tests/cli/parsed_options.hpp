#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "session/options/options.hpp"
#include "tools/command_line.hpp"

namespace recon {

using Words = std::vector<std::string>;

/// A parsed command line.
struct Parsed {
  GivenOptions given;
  SessionOptions options;

  explicit Parsed(const Words& words) {
    std::vector<const char*> arguments = {"reconstruct"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    given = parse_command_line(static_cast<int>(arguments.size()), arguments.data()).given;
    if (given.contains("config")) add_config(given.at("config").text, given);
    try {
      options = parse_options(given);
    } catch (const UsageError& error) {
      throw UsageError(with_place(error.what(), given));
    }
  }
};

/// The words that choose work for which an option has a meaning, and the job that they make.
struct Work {
  Words words;
  Job job;
};

inline const Work kSweep{{}, {Method::kPlaneSweep, false}};
inline const Work kGiven{{"--depth-maps", "maps"}, {Method::kPlaneSweep, false}};
inline const Work kCut{{"--optimizer", "graphcut"}, {Method::kPlaneSweep, false}};
inline const Work kWeights{{"--aggregation", "aw"}, {Method::kPlaneSweep, false}};
inline const Work kCross{{"--aggregation", "cross"}, {Method::kPlaneSweep, false}};
inline const Work kSgm{{"--method", "sgm"}, {Method::kSemiGlobal, true}};
inline const Work kBm{{"--method", "bm"}, {Method::kBlockMatching, true}};
inline const Work kBp{{"--method", "bp"}, {Method::kBeliefPropagation, true}};
inline const Work kStages{{"--method", "pipeline"}, {Method::kPipeline, true}};

struct FloatOption {
  std::string name;
  Work work;
  std::string good, low, high;  ///< in the range, and beyond its ends
  std::function<double(const SessionOptions&)> value;
};

inline BlockMatchingOptions block(const SessionOptions& options) {
  return options.spec(Method::kBlockMatching).block;
}
inline BeliefOptions belief(const SessionOptions& options) {
  return options.spec(Method::kBeliefPropagation).belief;
}
inline AdaptiveWeightOptions weights(const SessionOptions& options) {
  return options.sweep().aggregation.adaptive_weight;
}

/// Every option that takes a number with a fraction.
inline const std::vector<FloatOption> kFloats = {
    {"--min-angle", kSweep, "1.23456789", "-1e-9", "180.1",
     [](auto& o) { return o.selection.min_angle_degrees; }},
    {"--max-angle", kSweep, "61.23456789", "-1", "181",
     [](auto& o) { return o.selection.max_angle_degrees; }},
    {"--depth-min", kSweep, "1.23456789", "0", "1e30", [](auto& o) { return o.depth_min.value_or(-1); }},
    {"--depth-max", kSweep, "12.3456789", "-2", "1e31", [](auto& o) { return o.depth_max.value_or(-1); }},
    {"--depth-unit", kGiven, "0.00123456789", "0", "1.1e30",
     [](auto& o) { return o.given_maps.unit.value_or(-1); }},
    {"--tile", kSweep, "1.23456789", "-1", "1.1e9", [](auto& o) { return o.cloud.tile; }},
    {"--max-cost", kSweep, "0.123456789", "-0.1", "255.1", [](auto& o) { return o.max_cost.value_or(-1); }},
    {"--min-confidence", kSweep, "0.123456789", "-0.1", "1.1",
     [](auto& o) { return o.min_confidence.value_or(-1); }},
    {"--min-lone-confidence", kSweep, "0.123456789", "-0.1", "1.1",
     [](auto& o) { return o.min_lone_confidence; }},
    {"--min-texture", kSweep, "1.23456789", "-0.1", "256",
     [](auto& o) { return o.min_texture.value_or(-1); }},
    {"--min-texture", kBm, "1.23456789", "-0.1", "256", [](auto& o) { return block(o).min_texture; }},
    {"--max-depth-error", kSweep, "0.0123456789", "0", "1.1",
     [](auto& o) { return o.consistency.max_relative_depth; }},
    {"--max-normal-angle", kSweep, "12.3456789", "-1", "180.1",
     [](auto& o) { return o.max_normal_angle.value_or(-1); }},
    {"--aw-colour", kWeights, "12.3456789", "0", "1001", [](auto& o) { return weights(o).gamma_colour; }},
    {"--aw-space", kWeights, "12.3456789", "0", "1001", [](auto& o) { return weights(o).gamma_space; }},
    {"--max-mean-cost", kBm, "12.3456789", "-1", "65026", [](auto& o) { return block(o).max_mean_cost; }},
    {"--data-weight", kBp, "0.123456789", "0", "101", [](auto& o) { return belief(o).data_weight; }},
    {"--data-cap", kBp, "12.3456789", "-1", "256", [](auto& o) { return belief(o).data_cap; }},
    {"--smoothness-cap", kBp, "1.23456789", "-1", "1e9", [](auto& o) { return belief(o).smoothness_cap; }},
    {"--sigma", kBp, "0.123456789", "-1", "10.1", [](auto& o) { return belief(o).smoothing_sigma; }}};

}  // namespace recon
