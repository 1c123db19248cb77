#include "session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/log_file.hpp"
#include "core/message_subject.hpp"
#include "core/parallel.hpp"
#include "core/printable.hpp"
#include "core/progress.hpp"
#include "core/system_limits.hpp"
#include "core/terminal_lines.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/destination.hpp"
#include "session/input.hpp"
#include "session/pair/pair_input.hpp"
#include "session/plan/step_clock.hpp"
#include "session/products/host_memory.hpp"
#include "session/report/session_report.hpp"
#include "session/resume/overwrite_note.hpp"
#include "session/scene/scene_formats.hpp"
#include "session/session_files.hpp"

namespace recon {

namespace {

using nlohmann::json;

constexpr int kBadInput = 3;

/// With the path, unless the reason begins with that of a part of the input.
std::string reason_of(const UnusableInput& input) {
  const std::string path = input.path.string();
  return input.reason.starts_with(path) ? input.reason : path + ": " + input.reason;
}

Outcome failed(const Input& input, int code, const std::string& message,
               const std::vector<std::string>& warnings = {}) {
  messages().error("{}", message);
  Outcome outcome{code, {{"scene", input_name(input).string()}, {"error", message}}, {}};
  outcome.error = std::current_exception();
  if (!outcome.error) outcome.error = std::make_exception_ptr(Error(code, message));
  if (!warnings.empty()) outcome.object["warnings"] = warnings;
  return outcome;
}

Outcome unusable_outcome(const UnusableInput& input) {
  Outcome outcome = failed(input, kBadInput, reason_of(input));
  outcome.error = std::make_exception_ptr(InputError(reason_of(input)));
  return outcome;
}

/// The work on an input, again alone where its share of the memory does not suffice.
Outcome work_on(const Input& input, const SharedWork& work, Turn& turn, std::vector<std::string>& warnings) {
  try {
    const auto* scene = std::get_if<SceneFolder>(&input);
    return scene ? do_scene(*scene, work, turn, warnings) : do_pair(std::get<PairFiles>(input), work, turn);
  } catch (const OutOfMemory&) {
    if (turn.alone()) throw;
  }
  turn.take_alone();
  Arena arena(turn.threads());
  return arena.execute([&] { return work_on(input, work, turn, warnings); });
}

/// An input whose failure must not stop the others.
Outcome try_input(const Input& input, const SharedWork& work, Turn& turn) {
  std::vector<std::string> warnings;
  try {
    return work_on(input, work, turn, warnings);
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceUnavailable&) {
    throw;
  } catch (const Error& error) {
    return failed(input, error.exit_code(), error.what(), warnings);
  } catch (const std::exception&) {
    const Failure failure = current_failure(kSessionAdvice);
    return failed(input, failure.exit_code, input_name(input).string() + ": " + failure.message);
  }
}

bool has_results(const Outcome& outcome) {
  return outcome.exit_code == 0 || outcome.exit_code == kSomeFailed;
}

/// The exit code of a session: where some of its inputs have results, a failure of others means that some
/// failed; where none has, it is that of the first.
int exit_code_of(const std::vector<Outcome>& outcomes) {
  const auto failed = [](const Outcome& outcome) { return outcome.exit_code != 0; };
  if (std::ranges::none_of(outcomes, failed)) return 0;
  return std::ranges::any_of(outcomes, has_results) ? kSomeFailed : outcomes.front().exit_code;
}

json objects_of(const std::vector<Outcome>& outcomes) {
  json objects = json::array();
  for (const Outcome& outcome : outcomes) objects.push_back(outcome.object);
  return objects;
}

/// The inputs of a session and what has come of them.
class Session {
 public:
  /// @param skipped  see expand_inputs
  Session(const SessionOptions& options, const std::vector<Input>& inputs, const std::string& skipped,
          std::ostream& out)
      : options_(options),
        inputs_(inputs),
        skipped_(skipped),
        out_(out),
        destination_{options.inputs, options.output},
        is_session_(destination_.is_session(inputs)),
        has_files_(is_session_ && options.shard.count == 1),
        // Parts of the estimation work beside each other, as in the folder of a scene.
        files_(has_files_ && !options.dry_run ? inputs : std::vector<Input>(), destination_.session_folder(),
               skipped, options.fuses() ? "" : "estimate", options.wait) {
    if (has_files_) check_session_files(destination_.session_folder());
  }

  /// @returns the exit code
  int run() {
    std::optional<Failure> failure;
    try {
      do_inputs();
      if (!options_.json && !options_.quiet && std::ranges::any_of(inputs_, is_usable)) {
        print(files_.table(columns()));
        print_wrapped(files_.place());
        if (!skipped_.empty()) print_wrapped(skipped_ + "\n");
      }
      if (!options_.json && options_.dry_run && inputs_.size() > 1)
        if (const json estimate = session_estimate(objects_of(outcomes()), at_once_);
            estimate.at("planned") > 0)
          print_wrapped(estimate_text(estimate));
    } catch (...) {
      // What is finished is reported too.
      error_ = std::current_exception();
      failure = current_failure(began_ ? kSessionAdvice : kUnbegunAdvice);
      if (overwrites() && failure->exit_code != Interrupted().exit_code())
        for (std::size_t i = 0; i < inputs_.size(); ++i)
          if (is_usable(inputs_[i])) overwrite_note(i).remove();
      if (is_session_ && began_)
        failure->message += fmt::format("; {} of {} scenes are done",
                                        std::ranges::count_if(outcomes(), has_results), inputs_.size());
      log_failure(*failure);
    }
    if (!failure && files_.failure()) {
      log_failure(*files_.failure());
      if (exit_code_of(outcomes()) == 0) {
        failure = files_.failure();
        error_ = files_.error();
      }
    }
    const int exit_code = report_outcomes(failure);
    if (failure && !error_) error_ = std::make_exception_ptr(Error(failure->exit_code, failure->message));
    for (const auto& [input, outcome] : outcomes_)
      if (!error_ && exit_code != kSomeFailed) error_ = outcome.error;
    return exit_code;
  }

  /// What ended it, or why its first input has no results where none has; null where there are results.
  std::exception_ptr error() const { return error_; }

 private:
  /// What is found to fail before the work comes first: nobody has to wait for it until others are done.
  void do_inputs() {
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const SubjectScope about = subject(i, false);
      if (auto fault = fault_of(inputs_[i]))
        add(i, *std::move(fault));
      else
        usable.push_back(i);
    }
    if (usable.empty()) return;
    if (usable.size() > 1)
      check_session_space(inputs_, SceneSettings(options_), options_.pair_job(), destination_, memory());
    if (overwrites())
      for (const std::size_t i : usable) overwrite_note(i).write();
    began_ = true;
    const ThreadLimit limit(usable_threads(options_.threads));
    do_usable(usable, limit.threads());
  }

  /// What can be found out about an input without reading all of it.
  /// @throws Error as the work on it would
  void check_input(const Input& input) const {
    if (const auto* pair = std::get_if<PairFiles>(&input)) {
      make_pair_plan(*pair, options_.pair_job());
      return;
    }
    const auto& scene = std::get<SceneFolder>(input);
    importer_of(scene).check(scene, model_memory(memory()));
  }

  /// What is wrong with an input at first sight; of one alone its work finds it out at once.
  std::optional<Outcome> fault_of(const Input& input) const {
    if (const auto* unusable = std::get_if<UnusableInput>(&input)) return unusable_outcome(*unusable);
    if (!is_session_) return std::nullopt;
    try {
      check_input(input);
      return std::nullopt;
    } catch (const Error& error) {
      return failed(input, error.exit_code(), error.what());
    }
  }

  bool overwrites() const { return options_.overwrite && !options_.dry_run; }

  OverwriteNote overwrite_note(std::size_t i) const {
    const std::filesystem::path output = destination_.of(inputs_[i], is_session_);
    if (const auto* pair = std::get_if<PairFiles>(&inputs_[i]))
      return {options_, output, {pair->left, pair->right}};
    return {options_, output, {std::get<SceneFolder>(inputs_[i]).root}};
  }

  /// Messages name the input of a session where others are worked on beside it, and objects always.
  SubjectScope subject(std::size_t i, bool beside_others) const {
    const bool named = is_session_ && (beside_others || options_.progress == ProgressFormat::kJson);
    return SubjectScope(named ? std::make_shared<const std::string>(input_name(inputs_[i]).string())
                              : nullptr);
  }

  Outcome do_input(std::size_t i, const SharedWork& work, Turns& turns) {
    const std::string name = input_name(inputs_[i]).string();
    const SubjectScope about = subject(i, turns.at_once > 1);
    Turn turn(turns);
    check_interrupted();
    if (inputs_.size() > 1) messages().info("{}: scene {} of {}", name, i + 1, inputs_.size());
    Arena arena(turn.threads());
    Outcome outcome = arena.execute([&] { return try_input(inputs_[i], work, turn); });
    if (overwrites() && !has_results(outcome)) overwrite_note(i).remove();  // refused, or its records say it
    return outcome;
  }

  std::size_t memory() const { return options_.memory_limit.value_or(available_memory()); }

  /// The inputs that are worked on side by side, as far as they are small.
  int inputs_at_once(std::size_t inputs, int threads) const {
    constexpr int kAtOnce = 8;
    // A listener knows of one input at a time.
    if (progress_style(options_.quiet) == ProgressStyle::kListener) return 1;
    return std::min({kAtOnce, threads, static_cast<int>(inputs)});
  }

  /// Begins to look for GPUs and to open them.
  /// @param threads, memory  of the host, bytes
  SharedWork begin_work(int threads, std::size_t memory) const {
    parse_device(options_.device);
    SharedWork work{options_, {}, {}, is_session_};
    // The log of a scene gets it from the scene.
    work.notice = std::make_shared<DeviceNotice>(log_without_files());
    work.choice = std::async(std::launch::async, [&options = options_, notice = work.notice] {
                    const DeviceChoice choice = choose_devices(options.device);
                    notice->know(choice.reason);
                    return choice;
                  }).share();
    // A run that may have to wait measures the available memory afterwards.
    const auto launch = options_.wait ? std::launch::deferred : std::launch::async;
    work.devices = std::async(launch, [choice = work.choice, threads, memory, &options = options_] {
                     StepClock clock;
                     const DeviceChoice& chosen = choice.get();
                     Backends backends = make_backends(chosen, threads, memory, options.gpu_memory_limit);
                     clock.end("opening the device");
                     return OpenDevices{std::move(backends), clock.times().front().second};
                   }).share();
    work.start = seconds_since_process_start();
    return work;
  }

  void do_usable(const std::vector<std::size_t>& usable, int threads) {
    at_once_ = inputs_at_once(usable.size(), threads);
    Turns turns{options_.dry_run ? 1 : at_once_, threads, memory()};
    const SharedWork work = begin_work(threads, turns.memory);
    files_.begin_work();
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;  // of what comes of them
    FirstException first;
    const auto take_inputs = [&] {
      for (std::size_t i; (i = next++) < usable.size() && !first.thrown();)
        first.guard([&] {
          Outcome outcome = do_input(usable[i], work, turns);
          const std::lock_guard lock(mutex);
          add(usable[i], std::move(outcome));
        });
    };
    {
      std::vector<std::jthread> others;
      try {
        while (std::ssize(others) < turns.at_once - 1) others.emplace_back(take_inputs);
      } catch (const std::system_error&) {  // fewer do the same work
      }
      take_inputs();
    }
    first.rethrow();
  }

  /// Of the terminal that the text goes to; nothing where it is none.
  std::optional<std::size_t> columns() const {
    if (&out_ != &std::cout) return std::nullopt;
    return standard_output_columns();
  }

  /// The lines of running steps on the same terminal must not stand in the text.
  void put(const std::string& text) {
    standard_error_lines().make_way([&] { out_ << text << std::flush; });
  }

  void print(const std::string& text) { put(printable(text, "\n")); }

  /// On a terminal in lines as wide.
  void print_wrapped(const std::string& text) {
    const std::optional<std::size_t> width = columns();
    const std::string shown = printable(text, "\n");
    put(width ? wrapped_lines(shown, *width) : shown);
  }

  /// What has come of an input. On a terminal the report has a line of its own.
  void print(const Outcome& outcome) {
    if (outcome.text.empty()) return;
    std::string text = outcome.text;
    if (!outcome.report.empty()) {
      text.pop_back();  // the end of the line
      text += (columns() ? "\nreport: " : "; see ") + printable(outcome.report) + "\n";
    }
    print_wrapped(text);
  }

  void add(std::size_t input, Outcome outcome) {
    if (!options_.json && (!options_.quiet || options_.dry_run)) print(outcome);
    files_.add(input, outcome);
    outcomes_.emplace(input, std::move(outcome));
  }

  /// The exit code of all inputs; prints the object that --json asks for.
  /// @param failure  what ended the session before its end
  int report_outcomes(const std::optional<Failure>& failure) {
    const json results = objects_of(outcomes());
    json object = {{"scenes", results},
                   {"exit_code", failure ? failure->exit_code : exit_code_of(outcomes())}};
    if (options_.dry_run) object["estimate"] = session_estimate(results, at_once_);
    if (failure) object["error"] = failure->message;
    if (options_.json) put(json_text(object));
    return object["exit_code"];
  }

  /// In the order of the inputs.
  std::vector<Outcome> outcomes() const {
    std::vector<Outcome> outcomes;
    for (const auto& [input, outcome] : outcomes_) outcomes.push_back(outcome);
    return outcomes;
  }

  const SessionOptions& options_;
  const std::vector<Input>& inputs_;
  const std::string& skipped_;
  std::ostream& out_;
  const Destination destination_;
  const bool is_session_, has_files_;
  SessionFiles files_;
  int at_once_ = 1;                          ///< inputs
  bool began_ = false;                       ///< what --overwrite asks for is noted
  std::map<std::size_t, Outcome> outcomes_;  ///< by input
  std::exception_ptr error_;
};

}  // namespace

int run_session(const SessionOptions& options, std::ostream& out, std::exception_ptr* error) {
  if (options.inputs.empty())
    throw UsageError(
        "no input given: name the folder of a scene, such as one with images/ and sparse/, or the two images "
        "of a pair");
  parse_device(options.device);
  std::string skipped;
  const std::vector<Input> inputs = expand_inputs(options.inputs, options.images, &skipped);
  std::vector<Job> jobs;
  for (const Input& input : inputs)
    if (is_usable(input)) jobs.push_back(options.job(std::holds_alternative<PairFiles>(input)));
  if (!jobs.empty()) {
    options.check(jobs);
    Destination{options.inputs, options.output}.check(inputs);
  }
  if (!skipped.empty()) messages().info("{}", skipped);
  Session session(options, inputs, skipped, out);
  const int exit_code = session.run();
  if (error != nullptr) *error = session.error();
  return exit_code;
}

}  // namespace recon
