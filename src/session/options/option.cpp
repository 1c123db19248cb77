#include "session/options/option.hpp"

#include <algorithm>
#include <cctype>

namespace recon {

namespace {

/// What a number must be; empty where it is in range.
std::string fault_of(const std::string& text, const Range& range) {
  const double value = parse_number<double>(text);
  if (!range.values.empty()) {
    std::vector<std::string> values;
    for (const int it : range.values) values.push_back(std::to_string(it));
    return contains(values, plain(value)) ? "" : "be " + list_of(values);
  }
  if (!(value >= range.min && value <= range.max))
    return "lie between " + plain(range.min) + " and " + plain(range.max);
  return range.odd && static_cast<long>(value) % 2 == 0 ? "be odd" : "";
}

/// A range for people, where it is of interest.
std::string described_range(const Setting& setting) {
  if (!setting.range || !setting.range->values.empty()) return "";
  const Range& range = *setting.range;
  return range.max < 1e5 ? plain(range.min) + " to " + plain(range.max) : "";
}

}  // namespace

Option& Option::add(Setting setting) {
  settings.push_back(std::move(setting));
  return *this;
}

Option& Option::described(std::string text) {
  settings.back().described = std::move(text);
  return *this;
}

Option& Option::meaning(OptionText resolved) {
  settings.back().meaning = std::move(resolved);
  return *this;
}

Option& Option::in(OptionResult of_all, std::optional<OptionResult> with_patches) {
  result = of_all;
  result_with_patches = with_patches.value_or(of_all);
  return *this;
}

Option& Option::only_where(Jobs jobs, std::function<bool(const MethodSpec&)> met, std::string text) {
  conditions.push_back({jobs, std::move(met), std::move(text)});
  return *this;
}

const Setting* Option::setting(Job job) const {
  for (const Setting& it : settings)
    if ((it.jobs & jobs_of(job)) != 0) return &it;
  return nullptr;
}

bool Option::belongs_only_to(Jobs jobs) const {
  return !settings.empty() &&
         std::ranges::all_of(settings, [&](const Setting& it) { return (it.jobs & ~jobs) == 0; });
}

std::vector<std::string> Option::methods() const {
  std::vector<std::string> all;
  for (const Method method : kMethods)
    if (belongs_to({method, false}) || belongs_to({method, true})) all.push_back(method_keyword(method));
  return all;
}

std::vector<std::string> Option::keywords() const {
  std::vector<std::string> all;
  for (const Setting& it : settings)
    for (const std::string& word : it.keywords)
      if (!contains(all, word)) all.push_back(word);
  return all;
}

std::string Option::possible_values(std::optional<Method> method) const {
  const Setting* at = method && settings.size() > 1 ? setting({*method, false}) : nullptr;
  return at == nullptr ? "it can be " + list_of(keywords())
                       : "for --method " + method_keyword(*method) + " it can be " + list_of(at->keywords);
}

void Option::set(SessionOptions& options, const std::string& text) const {
  try {
    const std::vector<std::string> known = keywords();
    if (!known.empty() && !contains(known, text)) throw UsageError(possible_values(options.method));
    for (const Setting& it : settings)
      if (it.keywords.empty() || contains(it.keywords, text)) it.set(options, text);
  } catch (const UsageError& error) {
    throw UsageError("--" + name + " is '" + text + "'; " + error.what());
  }
}

void Option::check(const SessionOptions& options, Job job) const {
  const Setting* at = setting(job);
  if (at == nullptr) return;
  const auto given = options.given.find(name);
  const std::string text = given == options.given.end() ? at->get(options, job) : given->second.text;
  if (text.empty()) return;
  if (at->range)
    if (const std::string fault = fault_of(text, *at->range); !fault.empty())
      throw UsageError("--" + name + " is " + text + "; it must " + fault);
  if (!at->keywords.empty() && !contains(at->keywords, text))
    throw UsageError("--" + name + " is '" + text + "'; " + possible_values(job.method));
}

std::string Option::idle_reason(const SessionOptions& options, Job job) const {
  if (name == "depth-unit") {
    if (options.given_maps.folder.empty()) return "has a meaning with --depth-maps only";
  } else if (name == "prior-kind" && options.prior.folder.empty()) {
    return "has a meaning with --prior-maps only";
  } else if (!options.given_maps.folder.empty() && !job.pair && is_of_estimation()) {
    return "has no meaning with --depth-maps, whose depth maps are not estimated";
  }
  for (const Condition& it : conditions)
    if ((it.jobs & jobs_of(job)) != 0 && !it.met(options.spec(job.method))) return it.text;
  return {};
}

std::string Option::marked_help() const {
  if (!belongs_only_to(jobs::kScenes)) return help;
  std::string text = help;
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return "Of scenes: " + text;
}

std::string Option::defaults() const {
  std::vector<std::pair<std::string, std::string>> by_methods;  // methods, and what they have in common
  for (const Method method : kMethods) {
    const bool pair = setting({method, false}) == nullptr;
    const Setting* at = setting({method, pair});
    if (at == nullptr) continue;
    std::string text = at->get(SessionOptions(), {method, pair});
    if (const std::string range = described_range(*at); !range.empty())
      text += (text.empty() ? "" : ", ") + range;
    text = at->described.value_or(text);
    if (kind == ValueKind::kSwitch || text.empty()) continue;
    const auto same = std::ranges::find(by_methods, text, &std::pair<std::string, std::string>::second);
    if (same == by_methods.end())
      by_methods.emplace_back(method_keyword(method), text);
    else
      same->first += ", " + method_keyword(method);
  }
  const bool of_all = by_methods.size() == 1 && methods().size() == kMethods.size();
  std::string all;
  for (const auto& [names, text] : by_methods)
    all.append(all.empty() ? "" : "; ").append(of_all ? "" : names + ": ").append(text);
  return all;
}

namespace {

/// The fewest letters to insert, delete, replace or exchange with their neighbour that make one word of the
/// other (Damerau 1964, adjacent exchanges).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> kGroups = {
      work_options(),  matching_options(), stage_options(), pair_options(),   semi_global_options(),
      block_options(), belief_options(),   view_options(),  filter_options(), machine_options()};
  return kGroups;
}

std::vector<const Option*> all_options() {
  std::vector<const Option*> all;
  for (const OptionGroup& group : option_groups())
    for (const Option& option : group.options) all.push_back(&option);
  return all;
}

const Option* find_option(const std::string& name) {
  for (const Option* option : all_options())
    if (option->name == name) return option;
  return nullptr;
}

std::string most_similar_option(const std::string& word) {
  constexpr std::size_t kMinWord = 2, kMaxWord = 64, kMinBeginning = 3;
  if (word.size() < kMinWord || word.size() > kMaxWord) return {};
  std::string best;
  std::size_t least = word.size() / 3 + 1;  // one letter in three may be wrong
  for (const Option* option : all_options()) {
    const bool begins = word.size() >= kMinBeginning && option->name.starts_with(word);
    const std::size_t distance = begins ? 0 : edit_distance(word, option->name);
    if (distance < least) best = option->name, least = distance;
  }
  return best;
}

bool is_of_terminal(const Option& option) {
  return contains({"quiet", "verbose", "json", "help", "help-all", "version", "config", "progress"},
                  option.name);
}

}  // namespace recon
