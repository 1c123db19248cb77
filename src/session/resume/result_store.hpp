#pragma once

#include <compare>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/paths.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

/// What is said of a record that this program did not write.
inline constexpr const char* kDamagedRecord = "its record is damaged";

/// A thing that has changed, for people, such as "another photo of view03.png and 2 more". Results of which
/// changes are of one `kind` are made again for the same cause.
struct StaleCause {
  std::string kind, text;
};

/// One of a kind of its own.
inline StaleCause cause(const std::string& text) {
  return {text, text};
}

/// All that stands in the way of keeping finished work, for people: the options by their names on the command
/// line with both values, and photos, masks, cameras and poses by the names of their views, such as
/// "--window 5 -> 7" and "another photo of view03.png". Empty when nothing has changed. Of values that no
/// step has, such as in a record changed by hand, `kDamagedRecord`.
/// @param found   the inputs of a finished step, as step_inputs.hpp makes them, also of an earlier version;
///                any other value is allowed
/// @param wanted  those that it would have now
std::vector<StaleCause> list_changes(const nlohmann::json& found, const nlohmann::json& wanted);

/// As many changes as fit into a line, and how many more there are.
std::string in_one_line(const std::vector<StaleCause>& changes);

/// What a result is of: a step, and for the steps of views the view by its name in the output folder.
struct ResultKey {
  Step step = Step::kPrepare;
  std::string view = {};

  auto operator<=>(const ResultKey&) const = default;
};

/// The results in an output folder: those that a run makes, and those that an earlier one has left with a
/// record that still holds. Thread-safe; what it returns stays valid until the same key is found or put
/// again.
class ResultStore {
 public:
  /// @param workspace  outlives this
  /// @param overwrite  nothing of earlier runs is kept
  ResultStore(const Workspace& workspace, bool overwrite) : workspace_(workspace), overwrite_(overwrite) {}

  /// Whether nothing of earlier runs is kept.
  bool overwrites() const { return overwrite_; }

  /// Takes the result of an earlier run if its record holds and its files are as they were written.
  /// @param inputs     what the result has to depend on
  /// @param overwrite  instead of that of the store; false takes a superseded result too
  /// @returns the record; null where the step has to be done (again), see `reason`
  const StepRecord* find(const ResultKey& key, const nlohmann::json& inputs,
                         std::optional<bool> overwrite = {});

  /// Writes the record of a finished step in the place of that of an earlier run, whose files are removed
  /// unless they are files of the new one too. @throws OutputError
  void put(const ResultKey& key, StepRecord record);

  /// A result that has been found or put; null where there is none.
  const StepRecord* get(const ResultKey& key) const;

  /// Whether a result is of an earlier run.
  bool kept(const ResultKey& key) const { return state(key).kept; }

  /// Why the result of an earlier run does not hold; empty where there was none.
  std::string reason(const ResultKey& key) const { return in_one_line(causes(key)); }
  std::vector<StaleCause> causes(const ResultKey& key) const { return state(key).causes; }

  /// Whether that is because it depends on something else now.
  bool changed(const ResultKey& key) const { return state(key).changed; }

  /// The hash of a file of a result that was found or put; empty where it has no such file.
  std::string hash_of(const ResultKey& key, const std::string& file) const;

  /// Whether an earlier run has made the result, whatever has become of it since.
  bool is_of_before(const ResultKey& key) const { return is_there(record_path(key)); }

  /// Removes the files of a result that nothing needs any more but with other options; its record stays.
  /// @throws OutputError
  void clean(const ResultKey& key);

  /// Says in the record of an earlier run that the result is to be made again, also by a later run if this
  /// one ends before. Its files stay until then.
  /// @throws OutputError
  void supersede(const ResultKey& key) const;

  /// Forgets a result of an earlier run, which has to be made again.
  void forget(const ResultKey& key, std::vector<StaleCause> causes);

  /// Call it before the first file of a result is written over or removed. Files of an earlier run that
  /// somebody has changed since get other names, such as fused.changed.ply: nothing is lost.
  /// @param is_spared  whether a file stays where it is; empty: none does
  /// @throws OutputError
  void begin(const ResultKey& key, const std::function<bool(const std::string&)>& is_spared = {});

  /// Gives files that somebody has changed other names as `begin` does, where theirs are not written over
  /// yet.
  /// @throws OutputError
  void keep_changed(const ResultKey& key) { keep_changed(key, {}); }

  /// Writes files of a run by a call, and their record. Those of an earlier run that somebody has changed
  /// since are kept as `begin` has it.
  /// @throws OutputError, and what the call throws
  void write(const RunFiles& files, const std::function<void()>& write);

  /// Warnings that name the files which `begin` has given other names since the last call; many become few.
  std::vector<std::string> take_changed();

  /// Results of a step that this run has made, and that an earlier one had.
  struct Count {
    int done = 0, kept = 0;
  };
  Count count(Step step) const;

  /// The files of all results that have been found or put, without those that were cleaned.
  std::vector<std::string> files() const;

 private:
  /// How a result came about; all but the record itself, which may be large.
  struct State {
    std::vector<StaleCause> causes = {};
    bool kept = false, changed = false;
  };
  struct Entry {
    std::optional<StepRecord> record = {};
    State state = {};
    mutable std::map<std::string, std::string> hashes = {};  ///< of its files, from the first question on
  };

  Entry look_up(const ResultKey& key, const nlohmann::json& inputs, bool superseded_too) const;
  State state(const ResultKey& key) const;
  std::optional<StepRecord> keep_changed(const ResultKey& key,
                                         const std::function<bool(const std::string&)>& is_spared);
  void keep(const std::string& file);
  std::filesystem::path record_path(const ResultKey& key) const {
    return workspace_.path(Workspace::record_file(key.step, key.view));
  }

  const Workspace& workspace_;
  const bool overwrite_;
  mutable std::mutex mutex_;
  std::map<ResultKey, Entry> entries_;
  std::vector<std::string> changed_;  ///< see take_changed
};

}  // namespace recon
