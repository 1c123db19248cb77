#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "methods/method_spec.hpp"
#include "session/options/option_text.hpp"
#include "session/options/options.hpp"

namespace recon {

// What the keywords of options mean to each method. A pipeline has the costs of kTransforms too.
template <class Name, std::size_t kCount>
auto keyword_map(const Name (&names)[kCount]) {
  std::map<std::string, decltype(Name::kind)> words;
  for (const Name& name : names) words.emplace(name.keyword, name.kind);
  return words;
}
inline const std::map<std::string, CostKind> kSweepCosts = keyword_map(kSweptCosts);
inline const std::map<std::string, CostKind> kColourCosts = keyword_map(kColourCostNames);
inline const std::map<std::string, Aggregation> kAggregations = keyword_map(kAggregators);
inline const std::map<std::string, BlockCost> kBlockCosts = {{"sad", BlockCost::kSad},
                                                             {"ssd", BlockCost::kSsd}};
inline const std::map<std::string, Transform> kTransforms = {{"census", Transform::kScaledCensus},
                                                             {"census5x5", Transform::kCensus5x5},
                                                             {"census9x7", Transform::kCensus9x7},
                                                             {"rank", Transform::kRank},
                                                             {"symmetric", Transform::kSymmetricCensus}};
inline const std::map<std::string, Optimizer> kSweepOptimizers = {{"graphcut", Optimizer::kGraphCut},
                                                                  {"sgm", Optimizer::kSemiGlobal},
                                                                  {"winner", Optimizer::kWinnerTakeAll}};
inline const std::map<std::string, Optimizer> kPipelineOptimizers = {{"winner", Optimizer::kWinnerTakeAll},
                                                                     {"sgm", Optimizer::kSemiGlobal},
                                                                     {"scanline", Optimizer::kScanline},
                                                                     {"graphcut", Optimizer::kGraphCut}};

inline const std::map<std::string, Combination> kCombinations = {
    {"min", Combination::kMinimum}, {"mean", Combination::kMean}, {"best-k", Combination::kBestK}};
inline const std::map<std::string, BlockPrefilter> kPrefilters = {{"none", BlockPrefilter::kNone},
                                                                  {"sobel", BlockPrefilter::kSobel}};
inline const std::map<std::string, BeliefStorage> kStorages = {
    {"float", BeliefStorage::kFloat}, {"half", BeliefStorage::kHalf}, {"bfloat16", BeliefStorage::kBfloat16}};

inline const std::map<std::string, ProgressFormat> kProgressFormats = {{"json", ProgressFormat::kJson},
                                                                       {"text", ProgressFormat::kText}};
inline const std::map<std::string, Quality> kQualities = {
    {"draft", Quality::kDraft}, {"high", Quality::kHigh}, {"normal", Quality::kNormal}};

/// The keyword for a value; empty when there is none.
template <class Value>
std::string word_of(Value value, const std::map<std::string, Value>& words) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return word;
  return {};
}

/// All keywords, in the order of the alphabet.
template <class Value>
std::vector<std::string> keywords_of(const std::map<std::string, Value>& values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const auto& entry : values) words.push_back(entry.first);
  return words;
}

/// A set of jobs: two bits for each method, with scenes and with rectified pairs.
using Jobs = unsigned;

constexpr Jobs jobs_of(Job job) {
  return 1u << (2 * static_cast<unsigned>(job.method) + (job.pair ? 1 : 0));
}

namespace jobs {
inline constexpr Jobs kSweep = 3u << (2 * static_cast<unsigned>(Method::kPlaneSweep));
inline constexpr Jobs kSgm = 3u << (2 * static_cast<unsigned>(Method::kSemiGlobal));
inline constexpr Jobs kBp = 3u << (2 * static_cast<unsigned>(Method::kBeliefPropagation));
inline constexpr Jobs kBm = 3u << (2 * static_cast<unsigned>(Method::kBlockMatching));
inline constexpr Jobs kPipeline = 3u << (2 * static_cast<unsigned>(Method::kPipeline));
inline constexpr Jobs kAll = kSweep | kSgm | kBp | kBm | kPipeline;
inline constexpr Jobs kScenes = kAll / 3;  // the lower bit of each method
inline constexpr Jobs kPairs = kAll - kScenes;
}  // namespace jobs

/// The values that a number may have.
struct Range {
  double min = 0, max = 0;
  bool odd = false;
  std::vector<int> values = {};  ///< if not empty, the only ones
};

/// The text of a value for a job; empty: there is none.
using OptionText = std::function<std::string(const SessionOptions&, Job)>;

/// Where the value of an option is stored for some jobs.
struct Setting {
  Jobs jobs = 0;
  OptionText get;
  /// @throws UsageError that says what the value must be
  std::function<void(SessionOptions&, const std::string&)> set;
  std::optional<Range> range = {};            ///< of a number
  std::vector<std::string> keywords = {};     ///< the possible values; empty: other texts
  std::optional<std::string> described = {};  ///< default and range for people, if not as stored
  OptionText meaning = {};                    ///< if not as `get` has it
};

/// Where an option has an effect for some jobs.
struct Condition {
  Jobs jobs = 0;
  std::function<bool(const MethodSpec&)> met;
  std::string text;  ///< of the message, after the option: "has a meaning with ... only"
};

enum class ValueKind { kSwitch, kInteger, kDecimal, kText };

/// A function for the builders of Option that accesses a member of SessionOptions.
#define RECON_FIELD(member) ([](auto& session) -> auto& { return session.member; })

/// A member of the MethodSpec of each method that an option belongs to.
template <class Member>
struct SpecField {
  Member member;
};
template <class Member>
SpecField(Member) -> SpecField<Member>;
#define RECON_SPEC(member) (SpecField{[](auto& spec) -> auto& { return spec.member; \
  }                                                                                 \
  })

/// The value of a field for a job.
template <class Field>
auto value_of(const Field& field, const auto& options, Job) {
  return field(options);
}
template <class Member>
auto value_of(const SpecField<Member>& field, const auto& options, Job job) {
  const MethodSpec spec = options.spec(job.method);
  return field.member(spec);
}

/// Sets a field; of a MethodSpec, if its method has some of the jobs.
template <class Field, class Value>
void set_value(const Field& field, SessionOptions& options, Jobs, const Value& value) {
  field(options) = value;
}
template <class Visit>
void visit_spec(SessionOptions& options, Jobs jobs, const Visit& visit) {
  const Method method = options.own_method;
  if ((jobs & (jobs_of({method, false}) | jobs_of({method, true}))) != 0) visit(options.own_spec);
}
template <class Member, class Value>
void set_value(const SpecField<Member>& field, SessionOptions& options, Jobs jobs, const Value& value) {
  visit_spec(options, jobs, [&](MethodSpec& spec) { field.member(spec) = value; });
}

/// An option of `reconstruct`: all that the command line, configurations, checks, resolved options and the
/// manual know of it.
struct Option {
  Option(std::string option_name, std::string value_name, std::string help_text,
         OptionScope option_scope = OptionScope::kResults)
      : name(std::move(option_name)),
        value(std::move(value_name)),
        help(std::move(help_text)),
        scope(option_scope) {}

  // Builders: add a setting. A field is made by RECON_FIELD or RECON_SPEC.

  template <class Field>
  Option& number(Jobs jobs, Field field, Range range) {
    using Stored = std::decay_t<decltype(value_of(field, std::declval<SessionOptions&>(), Job{}))>;
    using T = typename decltype(std::optional(std::declval<Stored>()))::value_type;
    kind = std::is_same_v<T, int> ? ValueKind::kInteger : ValueKind::kDecimal;
    return add({jobs,
                [field](const auto& o, Job job) {
                  const std::optional<T> stored = value_of(field, o, job);
                  return stored ? plain(*stored) : "";
                },
                [field, jobs](SessionOptions& o, const std::string& given) {
                  set_value(field, o, jobs, parse_number<T>(given));
                },
                std::move(range)});
  }

  /// An integer that is not stored as it is given: load(spec), store(spec, value) of a MethodSpec.
  /// @param ranges  a setting for each, in this order
  template <class Load, class Store>
  Option& integer(const std::vector<std::pair<Jobs, Range>>& ranges, Load load, Store store) {
    kind = ValueKind::kInteger;
    for (const auto& [jobs, range] : ranges)
      add({jobs, [load](const auto& o, Job job) { return plain(load(o.spec(job.method))); },
           [store, jobs = jobs](SessionOptions& o, const std::string& given) {
             const int number = parse_integer(given);
             visit_spec(o, jobs, [&](MethodSpec& spec) { store(spec, number); });
           },
           range});
    return *this;
  }

  template <class Field, class Value>
  Option& keyword(Jobs jobs, Field field, const std::map<std::string, Value>& values) {
    return add({jobs,
                [field, &values](const auto& o, Job job) { return word_of(value_of(field, o, job), values); },
                [field, jobs, &values](SessionOptions& o, const std::string& word) {
                  set_value(field, o, jobs, values.at(word));
                },
                {},
                keywords_of(values)});
  }

  template <class Field>
  Option& flag(Jobs jobs, Field field) {
    kind = ValueKind::kSwitch;
    return add({jobs, [field](const auto& o, Job) { return field(o) ? "true" : "false"; },
                [field](SessionOptions& o, const std::string& given) {
                  if (given != "true" && given != "false") throw UsageError("it must be true or false");
                  field(o) = given == "true";
                }});
  }

  /// A text or a path.
  template <class Field>
  Option& text(Jobs jobs, Field field) {
    return add({jobs, [field](const auto& o, Job) -> std::string { return field(o); },
                [field](SessionOptions& o, const std::string& given) { field(o) = given; }});
  }

  Option& add(Setting setting);
  Option& described(std::string text);  ///< of the last setting
  /// Of the last setting: what its value means where it follows from other options when it is not given.
  Option& meaning(OptionText resolved);
  /// Sets `result`.
  /// @param with_patches  the same for jobs that refine patches
  Option& in(OptionResult of_all, std::optional<OptionResult> with_patches = {});
  /// See Condition; all that hold for a job have to be met.
  Option& only_where(Jobs jobs, std::function<bool(const MethodSpec&)> met, std::string text);

  /// The setting of a job, or null where the option does not belong to it.
  const Setting* setting(Job job) const;
  /// Whether it belongs to a job; options without a setting belong to all.
  bool belongs_to(Job job) const { return settings.empty() || setting(job) != nullptr; }
  /// Whether it belongs to some of `jobs`, and to no others.
  bool belongs_only_to(Jobs jobs) const;
  /// The keywords of the methods that it belongs to.
  std::vector<std::string> methods() const;
  /// All keywords of all jobs.
  std::vector<std::string> keywords() const;
  /// "it can be ..." of a method, or of all.
  std::string possible_values(std::optional<Method> method) const;
  /// @throws UsageError that names the option, its value and what it may be
  void set(SessionOptions& options, const std::string& text) const;
  /// @throws the same for a value that is out of range for a job, or no keyword of it
  void check(const SessionOptions& options, Job job) const;
  /// Why it has no effect for a job: the text of the first condition that is not met; empty if it has one.
  std::string idle_reason(const SessionOptions& options, Job job) const;
  /// Whether its value has an effect on nothing but how depth maps are estimated.
  bool is_of_estimation() const {
    return scope == OptionScope::kResults && result == OptionResult::kDepthMaps &&
           result_with_patches == OptionResult::kDepthMaps;
  }
  /// The help, which says where the option is of scenes only; those of pairs only have a group of their own.
  std::string marked_help() const;
  /// Defaults and ranges by method, for people; empty: there are none.
  std::string defaults() const;

  std::string name;   ///< without the dashes, as in a configuration
  std::string value;  ///< what help calls the value; empty for a switch
  std::string help;
  std::vector<std::string> examples;  ///< values that completion offers where there are no keywords
  char letter = 0;                    ///< 0: none
  ValueKind kind = ValueKind::kText;
  OptionScope scope;
  OptionResult result = OptionResult::kDepthMaps;
  OptionResult result_with_patches = OptionResult::kDepthMaps;
  std::vector<Setting> settings;
  std::vector<Condition> conditions;
};

struct OptionGroup {
  explicit OptionGroup(std::string group_title) : title(std::move(group_title)) {}
  Option& add(Option option) { return options.emplace_back(std::move(option)); }
  Option& add(const char* name, const char* value, const std::string& help,
              OptionScope scope = OptionScope::kResults) {
    return add(Option(name, value, help, scope));
  }

  std::string title;
  std::vector<Option> options;
};

/// Keywords and what they mean: "a (the first), b or c (the last)".
template <class Name, std::size_t kCount>
std::string explained(const Name (&names)[kCount]) {
  std::vector<std::string> words;
  for (const Name& name : names) {
    const std::string meaning = name.meaning;
    words.push_back(name.keyword + (meaning.empty() ? "" : " (" + meaning + ")"));
  }
  return list_of(words);
}

/// All options, in the order in which they apply.
const std::vector<OptionGroup>& option_groups();
std::vector<const Option*> all_options();

/// The option of a name such as "window", or null.
const Option* find_option(const std::string& name);

/// The option whose name is most like a word, such as qualty; empty where none is like it.
std::string most_similar_option(const std::string& word);

/// Whether it belongs to the command line and a terminal, so that a library does not have it.
bool is_of_terminal(const Option& option);

// The groups of the table, each in a file of its name or that of its neighbours.
OptionGroup work_options();
OptionGroup matching_options();
OptionGroup stage_options();
OptionGroup pair_options();
OptionGroup semi_global_options();
OptionGroup block_options();
OptionGroup belief_options();
OptionGroup view_options();
OptionGroup filter_options();
OptionGroup machine_options();

}  // namespace recon
