#include "session/resume/result_store.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

/// Whether a value is a plane: its normal and its offset.
bool is_plane(const nlohmann::json& value) {
  return value.is_array() && value.size() == 4 &&
         std::ranges::all_of(value, [](const nlohmann::json& number) { return number.is_number(); });
}

/// Whether a result has what reports read of that of its step.
bool is_whole(Step step, const nlohmann::json& result) {
  if (step == Step::kFusion || step == Step::kExport) return result.contains("points");
  if (step == Step::kPlanes)
    return result.contains("planes") && result.at("planes").is_array() &&
           std::ranges::all_of(result.at("planes"), is_plane) && result.contains("areas") &&
           result.at("areas").is_object() &&
           std::ranges::all_of(result.at("areas"),
                               [](const nlohmann::json& share) { return share.is_number(); }) &&
           result.contains("priors") && result.at("priors").is_object();
  return step != Step::kPair || (result.contains("known") && result.contains("colours"));
}

}  // namespace

ResultStore::Entry ResultStore::look_up(const ResultKey& key, const nlohmann::json& inputs,
                                        bool superseded_too) const {
  const std::filesystem::path path = record_path(key);
  Entry found{read_record(path), {{}, true, false}};
  if (!found.record || !is_whole(key.step, found.record->result)) {
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found)
      return {};
    return {{}, {{cause(kDamagedRecord)}}};
  }
  std::vector<StaleCause> causes =
      list_changes(found.record->inputs, nlohmann::json::parse(json_text(inputs)));
  const bool changed = !causes.empty();
  std::error_code ignored;
  if (!changed && !found.record->cleaned)
    if (const auto damaged = damaged_output(*found.record, workspace_.root())) {
      const std::string what = std::filesystem::exists(workspace_.path(*damaged), ignored)
                                   ? " is not as it was written"
                                   : " is missing";
      causes.push_back({what, *damaged + what});
    }
  if (causes.empty() && found.record->superseded && !superseded_too)
    causes.push_back(cause("an earlier run with --overwrite ended before its turn"));
  if (!causes.empty()) return {{}, {std::move(causes), false, changed}};
  return found;
}

const StepRecord* ResultStore::find(const ResultKey& key, const nlohmann::json& inputs,
                                    std::optional<bool> overwrite) {
  Entry found = overwrite.value_or(overwrite_) ? Entry() : look_up(key, inputs, overwrite.has_value());
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key] = std::move(found);
  return entry.record ? &*entry.record : nullptr;
}

void ResultStore::put(const ResultKey& key, StepRecord record) {
  const std::filesystem::path path = record_path(key);
  const std::optional<StepRecord> earlier = read_record(path);
  // Files that are no results any more go first: a run that ends here finds a record that does not hold.
  if (earlier)
    for (const OutputFile& file : earlier->outputs)
      if (std::ranges::none_of(record.outputs, [&](const OutputFile& it) { return it.name == file.name; }))
        workspace_.owned().remove(file.name);
  write_record(path, record);
  workspace_.owned().check_in_place();
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key];
  entry.record = std::move(record);
  entry.state.kept = false;
}

const StepRecord* ResultStore::get(const ResultKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() || !found->second.record ? nullptr : &*found->second.record;
}

void ResultStore::clean(const ResultKey& key) {
  StepRecord record;
  {
    const std::lock_guard lock(mutex_);
    record = entries_.at(key).record.value();
    entries_.at(key).record->cleaned = true;
  }
  // The record goes first: files that a killed run leaves are removed by the next.
  if (!std::exchange(record.cleaned, true)) write_record(record_path(key), record);
  for (const OutputFile& file : record.outputs) workspace_.owned().remove(file.name);
}

void ResultStore::supersede(const ResultKey& key) const {
  const std::filesystem::path path = record_path(key);
  std::optional<StepRecord> record = read_record(path);
  if (record && !std::exchange(record->superseded, true)) write_record(path, *record);
}

void ResultStore::forget(const ResultKey& key, std::vector<StaleCause> causes) {
  const std::lock_guard lock(mutex_);
  entries_[key] = {{}, {std::move(causes)}};
}

std::string ResultStore::keep_changed_cloud(Step step) const {
  const std::filesystem::path cloud = workspace_.path(Workspace::cloud_file());
  const auto record = read_record(record_path({step}));
  if (!record || !is_file(cloud)) return {};
  const auto written = std::ranges::find(record->outputs, Workspace::cloud_file(), &OutputFile::name);
  if (written == record->outputs.end() || identify_file(cloud) == written->identity) return {};
  std::error_code error;
  std::filesystem::path kept = workspace_.path("fused.changed.ply");
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(kept, error)); ++i)
    kept = workspace_.path("fused.changed-" + std::to_string(i) + ".ply");
  std::filesystem::rename(cloud, kept, error);
  if (error) throw OutputError(cloud.string() + ": cannot be renamed: " + error.message());
  return cloud.string() + " has been changed since it was written: it is kept as " + kept.filename().string();
}

ResultStore::Count ResultStore::count(Step step) const {
  Count count;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (key.step == step && entry.record) ++(entry.state.kept ? count.kept : count.done);
  return count;
}

std::vector<std::string> ResultStore::files() const {
  std::vector<std::string> files;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (entry.record && !entry.record->cleaned)
      for (const OutputFile& file : entry.record->outputs) files.push_back(file.name);
  return files;
}

ResultStore::State ResultStore::state(const ResultKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? State() : found->second.state;
}

}  // namespace recon
