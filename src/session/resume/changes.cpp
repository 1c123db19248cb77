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
#include "session/resume/option_values.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// The keys that lead to a value.
using Keys = std::vector<std::string>;

std::string joined(const Keys& place) {
  return fmt::format("{}", fmt::join(place, "/"));
}

/// Calls `visit(place, found, wanted)` for each value that differs; null where there is none.
template <class Visit>
void visit_changes(const json& found, const json& wanted, Keys& place, const Visit& visit) {
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
    const json own = part(source, "/name");
    const std::string name = own.is_string() ? own.get<std::string>() : "";
    order.push_back(name);
    by_name[name] = std::move(source);
  }
  *sources = std::move(by_name);
  inputs["order"] = std::move(order);
  return inputs;
}

/// The value at a place in inputs; null where there is none.
json value_at(const json& inputs, const Keys& place) {
  const json* value = &inputs;
  for (const std::string& key : place) {
    if (!value->is_object() || !value->contains(key)) return {};
    value = &value->at(key);
  }
  return *value;
}

/// The name of an option for a key such as "max_cost" of the inputs themselves or of a part with options
/// only; empty where there is none.
std::string option_named_as(const Keys& place) {
  static const std::set<std::string> kParts = {"consistency", "agreement", "sgm"};
  if (place.size() > 2 || (place.size() == 2 && !kParts.contains(place.front()))) return {};
  std::string name = place.back();
  std::replace(name.begin(), name.end(), '_', '-');
  return find_option(name) != nullptr ? name : "";
}

/// Whether a value is what is black and white in photos; numbers of that name are of an option.
bool is_sample_levels(const Keys& place, const json& before, const json& now) {
  const auto levels = std::find(place.begin(), place.end(), "levels");
  return levels != place.end() && (levels + 1 != place.end() || before.is_array() || now.is_array());
}

/// Whether values could be of the same step: an option may be written as a word or a number, but no list
/// stands for an object, nor either for one value, and names are words.
bool same_shape(const json& found, const json& wanted) {
  if (found.is_null() || wanted.is_null()) return true;
  if (found.is_object() != wanted.is_object() || found.is_array() != wanted.is_array()) return false;
  if (found.is_object())
    return std::all_of(found.items().begin(), found.items().end(), [&](const auto& it) {
      if (it.key() == "name" && !it.value().is_string()) return false;
      return !wanted.contains(it.key()) || same_shape(it.value(), wanted.at(it.key()));
    });
  if (!found.is_array() || wanted.empty()) return true;
  if (found.size() == wanted.size())
    return std::equal(found.begin(), found.end(), wanted.begin(), same_shape);
  return std::all_of(found.begin(), found.end(),
                     [&](const json& element) { return same_shape(element, wanted.front()); });
}

/// All that has changed, each change once.
class Changes {
 public:
  Changes(const json& found, const json& wanted)
      : found_(with_sources_by_name(found)), wanted_(with_sources_by_name(wanted)) {
    if (found.is_object() && part(found, "/version") != part(wanted, "/version")) {
      add(files_, "another version of the program made it");
      return;
    }
    if (!found.is_object() || !same_shape(found, wanted)) {
      add(files_, kDamagedRecord);
      return;
    }
    const std::string before = method_of(found_), now = method_of(wanted_);
    same_method_ = before == now;
    if (!same_method_) add(options_, "--method " + before + " -> " + now);
    Keys place;
    visit_changes(found_, wanted_, place,
                  [&](const Keys& at, const json& a, const json& b) { add_change(at, a, b); });
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

  void add_change(const Keys& place, const json& before, const json& now) {
    if (add_file(place, before, now) || add_derived(place)) return;
    if (same_method_) add_option(place, before, now);
  }

  /// A photo or what belongs to one, or the result of another step.
  bool add_file(const Keys& place, const json& before, const json& now) {
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
    if (of_others && place.size() > 2 && place[2] == "overlapping") {
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
  bool add_derived(const Keys& place) {
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
      const json numbers = value_at(inputs, Keys(place.begin(), camera + 1));
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

  void add_option(Keys place, const json& before, const json& now) {
    if (place.size() > 1 && (place.front() == "matching" || place.front() == "stages"))
      place.erase(place.begin());
    if (place.front() == "roi" || place.front() == "region") return add_values("roi", roi_of);
    if (place.front() == "refinement" && place.size() > 1 && place[1] == "steps")
      return add_values("refine", refinement_of);
    if (const OptionRule* rule = find_option_rule(joined(place))) {
      const auto& [option, by_inputs, by_value] = *rule;
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
