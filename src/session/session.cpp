#include "session/session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log_file.hpp"
#include "core/parallel.hpp"
#include "io/output_file.hpp"
#include "session/input.hpp"
#include "session/pair/pair_run.hpp"
#include "session/report/session_report.hpp"
#include "session/scene/scene_run.hpp"
#include "session/shared_work.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kBadInput = 3;

std::string reason_of(const UnusableInput& input) {
  return input.path.string() + ": " + input.reason;
}

Outcome do_input(const Input& input, const SharedWork& work, LogFile& log) {
  if (const auto* unusable = std::get_if<UnusableInput>(&input)) throw InputError(reason_of(*unusable));
  if (const auto* scene = std::get_if<SceneFolder>(&input)) return do_scene(*scene, work, log);
  return do_pair(std::get<PairFiles>(input), work);
}

Outcome failed(const Input& input, int code, const std::string& message) {
  spdlog::error("{}", message);
  return {code, {{"scene", input_name(input).string()}, {"error", message}}, {}};
}

/// An input whose failure must not stop the others.
Outcome try_input(const Input& input, const SharedWork& work) {
  LogFile log;
  try {
    return do_input(input, work, log);
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceUnavailable&) {
    throw;
  } catch (const Error& error) {
    return failed(input, error.exit_code(), error.what());
  } catch (const std::exception&) {
    const Failure failure = current_failure(kSessionAdvice);
    return failed(input, failure.exit_code, input_name(input).string() + ": " + failure.message);
  }
}

/// The exit code of a session: where some of its inputs have results, a failure of others means that some
/// failed; where none has, it is that of the first.
int exit_code_of(const std::vector<Outcome>& outcomes) {
  const auto failed = [](const Outcome& outcome) { return outcome.exit_code != 0; };
  const auto has_results = [](const Outcome& outcome) {
    return outcome.exit_code == 0 || outcome.exit_code == kSomeFailed;
  };
  if (std::none_of(outcomes.begin(), outcomes.end(), failed)) return 0;
  return std::any_of(outcomes.begin(), outcomes.end(), has_results) ? kSomeFailed
                                                                    : outcomes.front().exit_code;
}

json objects_of(const std::vector<Outcome>& outcomes) {
  json objects = json::array();
  for (const Outcome& outcome : outcomes) objects.push_back(outcome.object);
  return objects;
}

/// The exit code of all inputs; prints the object that --json asks for.
/// @param failure  what ended the session before its end
int report_outcomes(const SessionOptions& options, const std::vector<Outcome>& outcomes, std::ostream& out,
                    const std::optional<Failure>& failure = {}) {
  const json results = objects_of(outcomes);
  json object = {{"scenes", results}, {"exit_code", failure ? failure->exit_code : exit_code_of(outcomes)}};
  if (options.dry_run) object["estimate"] = session_estimate(results);
  if (failure) object["error"] = failure->message;
  if (options.json) out << json_text(object) << std::flush;
  return object["exit_code"];
}

std::vector<Job> jobs_of(const SessionOptions& options, const std::vector<Input>& inputs) {
  std::vector<Job> jobs;
  for (const Input& input : inputs) {
    if (!is_usable(input)) continue;
    const bool pair = std::holds_alternative<PairFiles>(input);
    jobs.push_back({options.method_of(pair), pair});
  }
  return jobs;
}

/// What is written about all inputs of a session, of which there are several.
class SessionFiles {
 public:
  SessionFiles(const SessionOptions& options, std::size_t inputs)
      : count_(options.dry_run || options.shard.count > 1 || inputs < 2 ? 0 : inputs),
        folder_(session_folder(options)) {}

  void add(const Outcome& outcome) {
    if (count_ == 0) return;
    lines_.push_back(session_line(outcome.object, outcome.exit_code));
    write();
    const std::size_t left = count_ - lines_.size();
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (left > 0)
      spdlog::info("{} of {} scenes, about {:.0f} s left", lines_.size(), count_,
                   seconds / static_cast<double>(lines_.size()) * static_cast<double>(left));
  }

  /// Of all inputs for people; empty where there is one input.
  std::string table() const { return lines_.empty() ? "" : session_table(lines_); }

 private:
  using Clock = std::chrono::steady_clock;

  /// The results of the scenes matter more than these files.
  void write() {
    if (folder_.empty()) return;
    try {
      write_session_files(folder_, lines_);
    } catch (const Error& error) {
      spdlog::warn("the session's files are not written: {}", error.what());
      folder_.clear();
    }
  }

  std::size_t count_;
  fs::path folder_;
  std::vector<json> lines_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

int run_session(const SessionOptions& options, std::ostream& out) {
  if (options.inputs.empty())
    throw UsageError(
        "no input given: name the folder of a scene, such as one with images/ and sparse/, or the two images "
        "of a pair");
  const std::vector<Input> inputs = expand_inputs(options.inputs);
  const std::vector<Job> jobs = jobs_of(options, inputs);
  if (jobs.empty()) {
    std::vector<Outcome> outcomes;
    for (const Input& input : inputs)
      outcomes.push_back(failed(input, kBadInput, reason_of(std::get<UnusableInput>(input))));
    return report_outcomes(options, outcomes, out);
  }
  options.check(jobs);
  check_output_paths(options, inputs);
  ThreadLimit limit(usable_threads(options.threads));
  return limit.run([&] {
    SharedWork work = begin_work(options, limit.threads());
    work.several_inputs = inputs.size() > 1;
    std::vector<Outcome> outcomes;
    SessionFiles files(options, inputs.size());
    try {
      for (const Input& input : inputs) {
        outcomes.push_back(try_input(input, work));
        if (!options.json && (!options.quiet || options.dry_run)) out << outcomes.back().text << std::flush;
        files.add(outcomes.back());
      }
      if (!options.json && !options.quiet) out << files.table() << std::flush;
      if (!options.json && options.dry_run && work.several_inputs)
        out << estimate_text(session_estimate(objects_of(outcomes))) << std::flush;
    } catch (...) {
      // What is finished is reported too.
      const Failure failure = current_failure(kSessionAdvice);
      log_failure(failure);
      return report_outcomes(options, outcomes, out, failure);
    }
    return report_outcomes(options, outcomes, out);
  });
}

}  // namespace recon
