#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/plain_number.hpp"
#include "session/resume/result_store.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// The keys that lead to a value.
using Keys = std::vector<std::string>;

/// A value for people; "none" where there is none.
std::string shown(const json& value) {
  constexpr std::size_t kMaxLength = 60;
  if (value.is_null()) return "none";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return plain(value.get<double>(), 6);
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > kMaxLength ? text.substr(0, kMaxLength) + "..." : text;
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

/// The value at a place in inputs; null where there is none.
json value_at(const json& inputs, const Keys& place) {
  const json* value = &inputs;
  for (const std::string& key : place) {
    if (!value->is_object() || !value->contains(key)) return {};
    value = &value->at(key);
  }
  return *value;
}

/// Inputs whose sources, a list with names, are an object by name.
json with_sources_by_name(json inputs) {
  const auto sources = inputs.find("sources");
  if (sources == inputs.end() || !sources->is_array()) return inputs;
  json by_name = json::object(), order = json::array();
  for (json& source : *sources) {
    const json own = value_at(source, {"name"});
    const std::string name = own.is_string() ? own.get<std::string>() : "";
    order.push_back(name);
    by_name[name] = std::move(source);
  }
  *sources = std::move(by_name);
  inputs["order"] = std::move(order);
  return inputs;
}

/// Whether values could be of the same step: no list stands for an object, nor either for one value, and
/// names are words.
bool same_shape(const json& found, const json& wanted) {
  if (found.is_null() || wanted.is_null()) return true;
  if (found.is_object() != wanted.is_object() || found.is_array() != wanted.is_array()) return false;
  if (found.is_object())
    return std::ranges::all_of(found.items(), [&](const auto& it) {
      if (it.key() == "name" && !it.value().is_string()) return false;
      return !wanted.contains(it.key()) || same_shape(it.value(), wanted.at(it.key()));
    });
  if (!found.is_array() || wanted.empty()) return true;
  if (found.size() == wanted.size())
    return std::equal(found.begin(), found.end(), wanted.begin(), same_shape);
  return std::ranges::all_of(found, [&](const json& element) { return same_shape(element, wanted.front()); });
}

/// They follow from the cameras: each view has its own.
const std::string kDepthRange = "depth range ", kImageSize = "image size ";

const Keys kMethod = {"options", "method"};

/// All that has changed, each change once.
class Changes {
 public:
  Changes(const json& found, const json& wanted)
      : found_(with_sources_by_name(found)), wanted_(with_sources_by_name(wanted)) {
    if (found.is_object() && value_at(found, {"version"}) != value_at(wanted, {"version"})) {
      add(files_, "another version of the program made it");
      return;
    }
    if (found.is_object() && found.contains("given") != wanted.contains("given")) {
      add(files_, wanted.contains("given") ? "--depth-maps gives the map now" : "--depth-maps gave the map");
      return;
    }
    if (!found.is_object() || !same_shape(found, wanted)) {
      add(files_, kDamagedRecord);
      return;
    }
    same_method_ = value_at(found_, kMethod) == value_at(wanted_, kMethod);
    Keys place;
    visit_changes(found_, wanted_, place, [&](const Keys& at, const json& a, const json& b) {
      any_ = true;
      add_change(at, a, b);
    });
  }

  std::vector<StaleCause> all() const {
    std::vector<StaleCause> all;
    for (const auto& [rank, text] : main_options_) all.push_back(cause(text));
    for (const auto* texts : {&options_, &files_})
      for (const std::string& text : *texts)
        all.push_back({text.starts_with(kDepthRange)  ? kDepthRange
                       : text.starts_with(kImageSize) ? kImageSize
                                                      : text,
                       text});
    // Those of the view itself and of its sources are of one kind.
    for (const auto& [what, views] : of_views_)
      all.push_back({what.ends_with(" of") ? what.substr(0, what.size() - 3) : what,
                     what + " " + views.front() +
                         (views.size() == 1 ? "" : fmt::format(" and {} more", views.size() - 1))});
    if (all.empty() && any_) all.push_back(cause("other inputs"));
    return all;
  }

 private:
  static void add(std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  }

  /// A change of what belongs to a view.
  void add_of(const std::string& view, const std::string& what) {
    const auto same = std::ranges::find(of_views_, what, &OfViews::first);
    add(same == of_views_.end() ? of_views_.emplace_back(what, std::vector<std::string>()).second
                                : same->second,
        view);
  }

  void add_change(const Keys& place, const json& before, const json& now) {
    if (place.front() == "options") {
      add_option(place, before, now);
    } else if (!add_file(place, before, now)) {
      add_derived(place);
    }
  }

  /// A photo or what belongs to one, or the result of another step.
  bool add_file(const Keys& place, const json& before, const json& now) {
    static const std::map<std::string, std::string> kNames = {{"photo", "another photo"},
                                                              {"mask", "another mask"},
                                                              {"given", "another given map"},
                                                              {"given_prior", "another prior"},
                                                              {"prior", "other depths of priors"},
                                                              {"lens", "another camera"},
                                                              {"face", "another part of the photo"},
                                                              {"pose", "another pose"},
                                                              {"offset", "another offset"},
                                                              {"named_by", "other names of the tiles"},
                                                              {"maps", "other depth maps"},
                                                              {"planes", "other planes of the scene"},
                                                              {"filled", "other areas on planes"},
                                                              {"left", "another left image"},
                                                              {"cloud", "another cloud"},
                                                              {"right", "another right image"},
                                                              {"expected", "other expected depths"},
                                                              {"levels", "another range of 16-bit photos"}};
    const bool of_others = place.front() == "sources" || place.front() == "views";
    if (of_others && place.size() == 2) {
      const std::string kind = place.front() == "sources" ? "source" : "view";
      add_of(place[1], before.is_null() ? "a new " + kind + ","
                       : now.is_null()  ? "without the " + kind
                                        : kind);
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
    if (of_others && place.size() > 2 && place[2] == "overlapping") {
      add_of(place[1], "other overlapping views of");
      return true;
    }
    const std::size_t first = of_others ? 2 : 0;
    for (std::size_t i = first; i < place.size(); ++i)
      if (const auto name = kNames.find(place[i]); name != kNames.end()) {
        const bool of_all = name->first == "levels";
        of_others && !of_all ? add_of(place[1], name->second + " of") : add(files_, name->second);
        return true;
      }
    if (place.front() == "positions") add(files_, "another precision of the positions");
    return place.front() == "positions" || place.back() == "name";
  }

  /// Whether an order is one of the same views.
  bool same_names(const std::string& list) const {
    const Keys by_name = {list == "order" ? "sources" : "views"};
    const auto names = [&](const json& inputs) {
      std::set<std::string> all;
      const json views = value_at(inputs, by_name);
      for (const auto& [name, view] : views.items()) all.insert(name);
      return all;
    };
    return names(found_) == names(wanted_);
  }

  /// What follows from options and from the model.
  void add_derived(const Keys& place) {
    const auto both = [&](const auto& text_of) { return text_of(found_) + " -> " + text_of(wanted_); };
    if (place.front() == "depth_min" || place.front() == "depth_max")
      add(options_, kDepthRange + both([](const json& inputs) {
                      return shown(value_at(inputs, {"depth_min"})) + " to " +
                             shown(value_at(inputs, {"depth_max"}));
                    }) + " (--depth-min, --depth-max)");
    const auto camera = std::ranges::find(place, "camera");
    if (camera == place.end()) return;
    const auto size = [&](const json& inputs) {
      const json numbers = value_at(inputs, Keys(place.begin(), camera + 1));
      return numbers.is_array() && numbers.size() > 1 ? shown(numbers[0]) + "x" + shown(numbers[1]) : "none";
    };
    if (value_at(wanted_, {"left"}).is_string())
      add(files_, "another calibration");
    else if (size(found_) == size(wanted_))
      add(files_, "another camera");
    else if (std::ranges::none_of(options_, [](const auto& it) { return it.starts_with(kImageSize); }))
      add(options_, kImageSize + both(size) + " (--max-image-size, --quality)");
  }

  /// Options that others follow from come first, in this order: without planes and stages, patches are
  /// refined, which have a quality. Of another method all are other ones.
  void add_option(const Keys& place, const json& before, const json& now) {
    static const std::vector<std::string> kMain = {"method", "cost",   "optimizer", "aggregation",
                                                   "planes", "refine", "quality",   "window"};
    if (place.size() != 2) return add(files_, kDamagedRecord);
    if (!same_method_ && place != kMethod) return;
    const std::string text = "--" + place[1] + " " + shown(before) + " -> " + shown(now);
    if (const auto main = std::ranges::find(kMain, place[1]); main != kMain.end())
      main_options_.emplace(main - kMain.begin(), text);
    else
      add(options_, text);
  }

  const json found_, wanted_;
  bool same_method_ = true, any_ = false;
  std::map<std::ptrdiff_t, std::string> main_options_;  ///< by rank
  std::vector<std::string> options_, files_;
  using OfViews = std::pair<std::string, std::vector<std::string>>;
  std::vector<OfViews> of_views_;  ///< what has changed, and of which views
};

}  // namespace

std::vector<StaleCause> list_changes(const json& found, const json& wanted) {
  return found == wanted ? std::vector<StaleCause>() : Changes(found, wanted).all();
}

/// As many as fit into a line, the first one in any case.
std::string in_one_line(const std::vector<StaleCause>& all) {
  constexpr std::size_t kRoom = 110;
  if (all.empty()) return {};
  std::string text = all.front().text;
  std::size_t shown = 1;
  for (; shown < all.size() && text.size() + all[shown].text.size() < kRoom; ++shown)
    text += ", " + all[shown].text;
  const std::size_t more = all.size() - shown;
  return more == 0 ? text : text + fmt::format(" and {} more change{}", more, more == 1 ? "" : "s");
}

}  // namespace recon
