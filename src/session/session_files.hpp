#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/program.hpp"
#include "session/destination.hpp"
#include "session/options/scene_settings.hpp"

namespace recon {

class OutputLock;
struct Outcome;

/// What SessionFiles would refuse, without a change of the folder; locks are not looked at.
/// @param folder  empty: there is none
/// @throws UsageError for files and links that no session has written
void check_session_files(const std::filesystem::path& folder);

/// What is written about all inputs of a session while they end, in its folder. No other process writes there
/// meanwhile, but for those that share the work. Of a single input, a plan or a shard there is nothing.
class SessionFiles {
 public:
  /// Takes the folder. One that cannot be written is a failure, which does not stop the work.
  /// @param inputs      empty: nothing is written
  /// @param folder      empty: there is none
  /// @param skipped     see expand_inputs
  /// @param shared_key  of processes that may write beside each other; empty: none may
  /// @param wait        for another process that has the folder
  /// @throws UsageError when a file or link of the user has one of the names, or another
  /// process has the folder and is not waited for; Interrupted while waiting
  SessionFiles(const std::vector<Input>& inputs, std::filesystem::path folder, std::string skipped,
               const std::string& shared_key, bool wait);
  ~SessionFiles();
  SessionFiles(const SessionFiles&) = delete;
  SessionFiles& operator=(const SessionFiles&) = delete;

  /// What fails before the work is no progress.
  void begin_work() { began_ = true; }

  /// Adds what has come of an input to the files, and says how many are done: not how long the others take,
  /// which may be far larger. Inputs that are not reached, as in a run that is interrupted, keep what an
  /// earlier run wrote about them.
  void add(std::size_t input, const Outcome& outcome);

  /// Of all inputs for people; empty where there is one input.
  /// @param width  of the terminal, see text_table
  std::string table(std::optional<std::size_t> width) const;

  /// Where they are, for people; empty where there are none.
  std::string place() const;

  /// Why the files lack something of what was added; nothing where they do not.
  const std::optional<Failure>& failure() const { return failure_; }

  /// The same as an exception, null where there is no failure.
  std::exception_ptr error() const { return error_; }

 private:
  void keep_lines(const std::vector<Input>& inputs);
  void write();
  void fail(const OutputError& error);

  std::size_t count_;  ///< of all inputs
  bool began_ = false;
  std::string skipped_;
  std::filesystem::path folder_;
  bool shared_;  ///< other processes may write there, too
  std::unique_ptr<OutputLock> lock_;
  std::map<std::size_t, nlohmann::json> lines_, earlier_;  ///< by input: of this run and of earlier ones
  std::optional<Failure> failure_;
  std::exception_ptr error_;
};

/// Adds up what the inputs of a session are still to write, at most, on each file system. Those that are
/// finished, by their records, write nothing; those whose plan cannot be made say why when it is their turn.
/// @param settings, pair  of the scenes and the pairs among them
/// @param memory          bytes of the host
/// @throws OutputError where there is too little space; Interrupted
void check_session_space(const std::vector<Input>& inputs, const SceneSettings& settings, const PairJob& pair,
                         const Destination& destination, std::size_t memory);

}  // namespace recon
