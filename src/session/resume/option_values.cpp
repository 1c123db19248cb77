#include "session/resume/option_values.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "session/options/option.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// The keyword of a number that stands for it in inputs.
template <class Value>
std::string word(const json& value, const std::map<std::string, Value>& words) {
  return value.is_number_integer() ? word_of(static_cast<Value>(value.get<int>()), words) : shown(value);
}

/// The stages of a method, which are all that inputs have or a part of them.
json stages_of(const json& inputs) {
  return inputs.contains("matching") ? inputs.at("matching") : inputs;
}

std::string cost_of(const json& inputs) {
  const json stages = stages_of(inputs), cost = part(stages, "/cost"), transform = part(stages, "/transform");
  const std::string method = method_of(inputs);
  if (!cost.is_number_integer()) return shown(cost);
  if (method == "sgm") return word(cost, kTransforms);
  if (method == "bm") return word(cost, kBlockCosts);
  CostOptions pipeline;
  pipeline.kind = static_cast<CostKind>(cost.get<int>());
  if (transform.is_number_integer())
    pipeline.transform.transform = static_cast<Transform>(transform.get<int>());
  return pipeline_cost_keyword(pipeline);
}

std::string optimizer_of(const json& inputs) {
  const json optimizer = part(stages_of(inputs), "/optimizer");
  return method_of(inputs) == "planesweep" ? word(optimizer, kSweepOptimizers)
                                           : word(optimizer, kPipelineOptimizers);
}

std::string max_disparity_of(const json& inputs) {
  const json stages = stages_of(inputs), min = part(stages, "/min_disparity"),
             count = part(stages, "/disparities");
  if (!min.is_number_integer() || !count.is_number_integer()) return shown(count);
  return std::to_string(std::int64_t{min.get<int>()} + count.get<int>());
}

// Values of options by the value in the inputs.

std::string window_of(const json& radius) {
  return radius.is_number_integer() ? std::to_string(std::int64_t{2} * radius.get<int>() + 1) : shown(radius);
}
std::string arm_of(const json& reach) {
  return reach.is_number_integer() ? std::to_string(std::int64_t{reach.get<int>()} - 1) : shown(reach);
}
std::string quality_of(const json& iterations) {
  const std::map<int, const char*> words = {{1, "draft"}, {2, "normal"}, {4, "high"}};
  const auto found = words.find(iterations.is_number_integer() ? iterations.get<int>() : 0);
  return found == words.end() ? shown(iterations) : found->second;
}

/// By the place in the stages of a method.
const std::map<std::string, OptionRule> kRules = {
    {"cost", {"cost", cost_of}},
    {"transform", {"cost", cost_of}},
    {"optimizer", {"optimizer", optimizer_of}},
    {"disparities", {"max-disparity", max_disparity_of}},
    {"combine", {"combine", nullptr, [](const json& v) { return word(v, kCombinations); }}},
    {"prefilter", {"prefilter", nullptr, [](const json& v) { return word(v, kPrefilters); }}},
    {"storage", {"storage", nullptr, [](const json& v) { return word(v, kStorages); }}},
    {"penalties/0", {"paths", nullptr, shown}},
    {"penalties/1", {"p1", nullptr, shown}},
    {"penalties/2", {"p2", nullptr, shown}},
    {"penalties/3", {"p2-falloff", nullptr, shown}},
    {"sgm/p1", {"p1"}},
    {"sgm/p2", {"p2"}},
    {"scanline/p1", {"p1"}},
    {"scanline/p2", {"p2"}},
    {"graph_cut/smoothness", {"p1"}},
    {"graph_cut/smoothness_cap", {"p2"}},
    {"graph_cut/edge_falloff", {"p2-falloff", nullptr, shown}},
    {"cut/smoothness", {"p1", nullptr, shown}},
    {"cut/smoothness_cap", {"p2"}},
    {"cut/edge_falloff", {"p2-falloff", nullptr, shown}},
    {"aggregation/kind", {"aggregation", nullptr, [](const json& v) { return word(v, kAggregations); }}},
    {"aggregation/constant_radius", {"window", nullptr, window_of}},
    {"aggregation/adaptive_radius", {"window", nullptr, window_of}},
    {"aggregation/gamma_colour", {"aw-colour", nullptr, shown}},
    {"aggregation/gamma_space", {"aw-space", nullptr, shown}},
    {"aggregation/reach", {"arm-length", nullptr, arm_of}},
    {"aggregation/colour", {"arm-colour", nullptr, shown}},
    {"aggregation/iterations", {"cross-iterations", nullptr, shown}},
    {"patch/radius", {"window", nullptr, window_of}},
    {"patch/iterations", {"quality", nullptr, quality_of}},
    {"graph_cut", {"refine", refinement_of}},
    {"edges", {"refine", refinement_of}},
    {"patches", {"refine", refinement_of}},
    {"prior", {"refine", refinement_of}}};

}  // namespace

json part(const json& inputs, const char* pointer) {
  const json::json_pointer place(pointer);
  return inputs.contains(place) ? inputs.at(place) : json();
}

std::string shown(const json& value) {
  constexpr std::size_t kMaxLength = 60;
  if (value.is_null()) return "none";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const json& element : value) parts.push_back(shown(element));
    return fmt::format("{}", fmt::join(parts, ","));
  }
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > kMaxLength ? text.substr(0, kMaxLength) + "..." : text;
}

std::string method_of(const json& inputs) {
  const json own = part(inputs, "/method");
  return shown(own.is_null() ? part(inputs, "/matching/method") : own);
}

std::string refinement_of(const json& inputs) {
  const auto flag = [](const json& of, const char* pointer) {
    const json value = part(of, pointer);
    return value.is_boolean() && value.get<bool>();
  };
  const json stages = stages_of(inputs);
  Refinement steps;
  if (method_of(inputs) == "planesweep") {
    steps.graph_cut = flag(stages, "/stages/graph_cut");
    steps.edges = flag(stages, "/stages/edges");
    steps.patches = flag(stages, "/stages/patches");
    steps.prior = flag(stages, "/stages/prior");
  } else {
    steps.graph_cut = flag(stages, "/refinement/steps/0");
    steps.left_right = flag(stages, "/refinement/steps/1");
    steps.vote = flag(stages, "/refinement/steps/2");
    steps.interpolate = flag(stages, "/refinement/steps/3");
    steps.edges = flag(stages, "/refinement/steps/4");
    steps.subpixel = flag(stages, "/refinement/steps/5");
    steps.median = flag(stages, "/refinement/steps/6");
  }
  return format_refinement(steps);
}

std::string roi_of(const json& inputs) {
  const json region = part(stages_of(inputs), "/region");
  return shown(region.is_null() ? part(inputs, "/roi") : region);
}

const OptionRule* find_option_rule(const std::string& place) {
  const auto rule = kRules.find(place);
  return rule == kRules.end() ? nullptr : &rule->second;
}

}  // namespace recon
