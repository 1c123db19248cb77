#include "session/resume/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "session/options/option.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// The keys that lead to a value.
using Place = std::vector<std::string>;

std::string joined(const Place& place) {
  return fmt::format("{}", fmt::join(place, "/"));
}

/// Calls `visit(place, found, wanted)` for each value that differs; null where there is none.
template <class Visit>
void visit_changes(const json& found, const json& wanted, Place& place, const Visit& visit) {
  if (found == wanted) return;
  const auto descend = [&](const std::string& key, const json& a, const json& b) {
    place.push_back(key);
    visit_changes(a, b, place, visit);
    place.pop_back();
  };
  if (found.is_object() && wanted.is_object()) {
    for (const auto& [key, value] : found.items()) descend(key, value, wanted.value(key, json()));
    for (const auto& [key, value] : wanted.items())
      if (!found.contains(key)) descend(key, json(), value);
  } else if (found.is_array() && wanted.is_array() && found.size() == wanted.size()) {
    for (std::size_t i = 0; i < found.size(); ++i) descend(std::to_string(i), found[i], wanted[i]);
  } else {
    visit(std::as_const(place), found, wanted);
  }
}

/// Inputs whose sources, a list with names, are an object by name.
json with_sources_by_name(json inputs) {
  const auto sources = inputs.find("sources");
  if (sources == inputs.end() || !sources->is_array()) return inputs;
  json by_name = json::object(), order = json::array();
  for (json& source : *sources) {
    const std::string name = source.is_object() ? source.value("name", "") : "";
    order.push_back(name);
    by_name[name] = std::move(source);
  }
  *sources = std::move(by_name);
  inputs["order"] = std::move(order);
  return inputs;
}

/// A part of inputs; null where it is absent.
json part(const json& inputs, const char* pointer) {
  const json::json_pointer place(pointer);
  return inputs.contains(place) ? inputs.at(place) : json();
}

/// The value at a place in inputs; null where there is none.
json value_at(const json& inputs, const Place& place) {
  const json* value = &inputs;
  for (const std::string& key : place) {
    if (!value->is_object() || !value->contains(key)) return {};
    value = &value->at(key);
  }
  return *value;
}

/// A value for people; "none" where there is none.
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

/// The keyword of a number that stands for it in inputs.
template <class Value>
std::string word(const json& value, const std::map<std::string, Value>& words) {
  return value.is_number_integer() ? word_of(static_cast<Value>(value.get<int>()), words) : shown(value);
}

std::string method_of(const json& inputs) {
  const json own = part(inputs, "/method");
  return shown(own.is_null() ? part(inputs, "/matching/method") : own);
}

/// The stages of a method, which are all that inputs have or a part of them.
json stages_of(const json& inputs) {
  return inputs.contains("matching") ? inputs.at("matching") : inputs;
}

// Values of options by the whole inputs.

std::string cost_of(const json& inputs) {
  const json stages = stages_of(inputs), cost = part(stages, "/cost"), transform = part(stages, "/transform");
  const std::string method = method_of(inputs);
  if (!cost.is_number_integer()) return shown(cost);
  if (method == "sgm") return word(cost, kTransforms);
  if (method == "bm") return word(cost, kBlockCosts);
  PipelineOptions pipeline;
  pipeline.cost = static_cast<PipelineCost>(cost.get<int>());
  if (transform.is_number_integer())
    pipeline.transform.transform = static_cast<Transform>(transform.get<int>());
  return pipeline_cost_keyword(pipeline);
}

std::string optimizer_of(const json& inputs) {
  const json optimizer = part(stages_of(inputs), "/optimizer");
  return method_of(inputs) == "planesweep" ? word(optimizer, kSweepOptimizers)
                                           : word(optimizer, kPipelineOptimizers);
}

std::string refinement_of(const json& inputs) {
  const auto flag = [](const json& of, const char* pointer) {
    const json value = part(of, pointer);
    return value.is_boolean() && value.get<bool>();
  };
  const json stages = stages_of(inputs);
  RefinementSteps steps;
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

std::string max_disparity_of(const json& inputs) {
  const json stages = stages_of(inputs), min = part(stages, "/min_disparity"),
             count = part(stages, "/disparities");
  if (!min.is_number_integer() || !count.is_number_integer()) return shown(count);
  return std::to_string(min.get<int>() + count.get<int>());
}

std::string roi_of(const json& inputs) {
  const json region = part(stages_of(inputs), "/region");
  return shown(region.is_null() ? part(inputs, "/roi") : region);
}

// Values of options by the value in the inputs.

std::string window_of(const json& radius) {
  return radius.is_number_integer() ? std::to_string(2 * radius.get<int>() + 1) : shown(radius);
}
std::string arm_of(const json& reach) {
  return reach.is_number_integer() ? std::to_string(reach.get<int>() - 1) : shown(reach);
}
std::string quality_of(const json& iterations) {
  const std::map<int, const char*> words = {{1, "draft"}, {2, "normal"}, {4, "high"}};
  const auto found = words.find(iterations.is_number_integer() ? iterations.get<int>() : 0);
  return found == words.end() ? shown(iterations) : found->second;
}

/// An option, and how its value follows from the inputs or from the value at its place in them; from neither
/// where inputs have it in another unit.
struct Rule {
  const char* option;
  std::string (*by_inputs)(const json&) = nullptr;
  std::string (*by_value)(const json&) = nullptr;
};

/// By the place in the stages of a method.
const std::map<std::string, Rule> kRules = {
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

/// The name of an option for a key such as "max_cost" of the inputs themselves or of a part with options
/// only; empty where there is none.
std::string option_named_as(const Place& place) {
  static const std::set<std::string> kParts = {"consistency", "agreement", "sgm"};
  if (place.size() > 2 || (place.size() == 2 && !kParts.contains(place.front()))) return {};
  std::string name = place.back();
  std::replace(name.begin(), name.end(), '_', '-');
  return find_option(name) != nullptr ? name : "";
}

/// Whether a value is what is black and white in photos; numbers of that name are of an option.
bool is_sample_levels(const Place& place, const json& before, const json& now) {
  const auto levels = std::find(place.begin(), place.end(), "levels");
  return levels != place.end() && (levels + 1 != place.end() || before.is_array() || now.is_array());
}

/// All that has changed, each change once.
class Changes {
 public:
  Changes(const json& found, const json& wanted)
      : found_(with_sources_by_name(found)), wanted_(with_sources_by_name(wanted)) {
    if (part(found_, "/version") != part(wanted_, "/version")) {
      add(files_, "another version of the program made it");
      return;
    }
    const std::string before = method_of(found_), now = method_of(wanted_);
    same_method_ = before == now;
    if (!same_method_) add(options_, "--method " + before + " -> " + now);
    Place place;
    visit_changes(found_, wanted_, place,
                  [&](const Place& at, const json& a, const json& b) { add_change(at, a, b); });
    if (other_constants_) add(files_, "other constants of the method");
  }

  /// As many as fit into a line, the first one in any case.
  std::string text() const {
    constexpr std::size_t kRoom = 80;
    std::vector<std::string> all = main_options_;
    for (const auto* list : {&options_, &files_}) all.insert(all.end(), list->begin(), list->end());
    if (all.empty()) return "other inputs";
    std::string text = all.front();
    std::size_t shown = 1;
    for (; shown < all.size() && text.size() + all[shown].size() < kRoom; ++shown) text += ", " + all[shown];
    const std::size_t more = all.size() - shown;
    return more == 0 ? text : text + fmt::format(" and {} more change{}", more, more == 1 ? "" : "s");
  }

 private:
  static void add(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }

  void add_change(const Place& place, const json& before, const json& now) {
    if (add_file(place, before, now) || add_derived(place)) return;
    if (same_method_) add_option(place, before, now);
  }

  /// A photo or what belongs to one, or the result of another step.
  bool add_file(const Place& place, const json& before, const json& now) {
    static const std::map<std::string, std::string> kNames = {
        {"photo", "another photo"}, {"mask", "another mask"},         {"lens", "another camera"},
        {"pose", "another pose"},   {"maps", "other depth maps"},     {"left", "another left image"},
        {"cloud", "another cloud"}, {"right", "another right image"}, {"expected", "other expected depths"}};
    const bool of_others = place.front() == "sources" || place.front() == "views";
    if (of_others && place.size() == 2) {
      const std::string view = (place.front() == "sources" ? "source " : "view ") + place[1];
      add(files_, before.is_null() ? view + " is new" : now.is_null() ? view + " is gone" : view);
      return true;
    }
    if (place.front() == "order" || place.front() == "indices") {
      if (same_names(place.front())) add(files_, "another order of the views");
      return true;
    }
    if (place.back() == "mask" && before.is_null() != now.is_null()) {
      add(files_, before.is_null() ? "a new mask" : "a mask that is gone");
      return true;
    }
    if (is_sample_levels(place, before, now)) {
      add(files_, "another range of 16-bit photos");
      return true;
    }
    if (of_others && place[2] == "overlapping") {
      add(files_, "other overlapping views of " + place[1]);
      return true;
    }
    const std::size_t first = of_others ? 2 : 0;
    for (std::size_t i = first; i < place.size(); ++i)
      if (const auto name = kNames.find(place[i]); name != kNames.end()) {
        add(files_, name->second + (of_others ? " of " + place[1] : ""));
        return true;
      }
    if (place.front() == "positions") add(files_, "another precision of the positions");
    return place.front() == "positions" || place.back() == "name";
  }

  /// Whether an order is one of the same views.
  bool same_names(const std::string& list) const {
    const char* by_name = list == "order" ? "/sources" : "/views";
    const auto names = [&](const json& inputs) {
      std::set<std::string> all;
      const json views = part(inputs, by_name);
      for (const auto& [name, view] : views.items()) all.insert(name);
      return all;
    };
    return names(found_) == names(wanted_);
  }

  /// What follows from options and from the model.
  bool add_derived(const Place& place) {
    const auto both = [&](const auto& text_of) { return text_of(found_) + " -> " + text_of(wanted_); };
    if (place.front() == "depth_min" || place.front() == "depth_max") {
      add(options_, "depth range " + both([](const json& inputs) {
                      return shown(part(inputs, "/depth_min")) + " to " + shown(part(inputs, "/depth_max"));
                    }) + " (--depth-min, --depth-max)");
      return true;
    }
    const auto camera = std::find(place.begin(), place.end(), "camera");
    if (camera == place.end()) return false;
    const auto size = [&](const json& inputs) {
      const json numbers = value_at(inputs, Place(place.begin(), camera + 1));
      return numbers.is_array() && numbers.size() > 1 ? shown(numbers[0]) + "x" + shown(numbers[1]) : "none";
    };
    if (part(wanted_, "/left").is_string())
      add(files_, "another calibration");
    else if (size(found_) != size(wanted_))
      add(options_, "image size " + both(size) + " (--max-image-size, --quality)");
    else
      add(files_, "another camera");
    return true;
  }

  void add_option(Place place, const json& before, const json& now) {
    if (place.size() > 1 && (place.front() == "matching" || place.front() == "stages"))
      place.erase(place.begin());
    if (place.front() == "roi" || place.front() == "region") return add_values("roi", roi_of);
    if (place.front() == "refinement" && place.size() > 1 && place[1] == "steps")
      return add_values("refine", refinement_of);
    if (const auto rule = kRules.find(joined(place)); rule != kRules.end()) {
      const auto& [option, by_inputs, by_value] = rule->second;
      if (by_inputs != nullptr) return add_values(option, by_inputs);
      const std::string name = std::string("--") + option;
      return add_named(option, by_value != nullptr ? name + " " + by_value(before) + " -> " + by_value(now)
                                                   : "another " + name);
    }
    if (const std::string option = option_named_as(place); !option.empty())
      return add_named(option, "--" + option + " " + shown(before) + " -> " + shown(now));
    other_constants_ = true;
  }

  void add_values(const char* option, std::string (*value)(const json&)) {
    add_named(option, std::string("--") + option + " " + value(found_) + " -> " + value(wanted_));
  }

  /// Options first that others follow from.
  void add_named(const std::string& option, const std::string& text) {
    static const std::set<std::string> kMain = {"cost",   "optimizer", "aggregation",
                                                "refine", "quality",   "window"};
    if (!named_.insert(option).second) return;
    add(kMain.contains(option) ? main_options_ : options_, text);
  }

  const json found_, wanted_;
  bool same_method_ = true, other_constants_ = false;
  std::set<std::string> named_;
  std::vector<std::string> main_options_, options_, files_;
};

}  // namespace

std::string describe_change(const json& found, const json& wanted) {
  return found == wanted ? "" : Changes(found, wanted).text();
}

}  // namespace recon
