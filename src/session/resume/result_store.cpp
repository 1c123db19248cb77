#include "session/resume/result_store.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/file/output_file.hpp"

namespace recon {

namespace {

/// Whether a result has what reports read of that of its step.
bool is_whole(Step step, const nlohmann::json& result) {
  static const nlohmann::json kPlanes = {
      {"planes", nlohmann::json::array({{0.0, 0.0, 0.0, 0.0}})},  // normal and offset
      {"areas", {{"*", 0.0}}},
      {"prior_kind", ""},
      {"priors", {{"*", {{"right", 0.0}, {"right_without", 0.0}, {"used", false}, {"fault", ""}}}}}};
  if (step == Step::kFusion || step == Step::kExport) return result.contains("points");
  if (step == Step::kPlanes)
    return result.contains("planes") && result.contains("areas") && is_like(result, kPlanes);
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
  const char* const is_not_as_written = found.record->replaced  // then it is of the run that ended
                                            ? " is not as it was written"
                                            : " is not as it was written (it is kept under another name)";
  if (!changed && !found.record->cleaned)
    if (const auto damaged = damaged_output(*found.record, workspace_.root())) {
      const std::string what =
          std::filesystem::exists(workspace_.path(*damaged), ignored) ? is_not_as_written : " is missing";
      causes.push_back({what, *damaged + what});
    }
  if (causes.empty() && found.record->superseded && !superseded_too)
    causes.push_back(cause("an earlier run with --overwrite ended before its turn"));
  if (causes.empty() && found.record->replaced)
    causes.push_back(cause("an earlier run ended while it was made again"));
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
  entry.hashes.clear();
  entry.state.kept = false;
}

const StepRecord* ResultStore::get(const ResultKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() || !found->second.record ? nullptr : &*found->second.record;
}

std::string ResultStore::hash_of(const ResultKey& key, const std::string& file) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || !entry->second.record) return {};
  std::map<std::string, std::string>& hashes = entry->second.hashes;
  if (hashes.empty())
    for (const OutputFile& it : entry->second.record->outputs) hashes[it.name] = it.identity.hash;
  const auto hash = hashes.find(file);
  return hash == hashes.end() ? std::string() : hash->second;
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

/// @returns the record of the earlier run; nothing where it does not hold
std::optional<StepRecord> ResultStore::keep_changed(
    const ResultKey& key, const std::function<bool(const std::string&)>& is_spared) {
  std::optional<StepRecord> record = read_record(record_path(key));
  // Of one that is being replaced, files are those of a run that ended meanwhile.
  if (!record || record->replaced) return std::nullopt;
  std::error_code ignored;
  std::vector<std::string> changed;
  for (const OutputFile& file : record->outputs)
    if (std::filesystem::is_regular_file(workspace_.path(file.name), ignored) &&
        !(is_spared && is_spared(file.name)) && !is_as_written(file, workspace_.root()))
      changed.push_back(file.name);
  if (changed.empty()) return record;
  // Another process that shares the folder says in the record that it writes them before it does.
  if (const auto now = read_record(record_path(key));
      !now || now->replaced || now->outputs != record->outputs)
    return std::nullopt;
  for (const std::string& file : changed) keep(file);
  return record;
}

void ResultStore::begin(const ResultKey& key, const std::function<bool(const std::string&)>& is_spared) {
  if (std::optional<StepRecord> record = keep_changed(key, is_spared)) {
    record->replaced = true;
    write_record(record_path(key), *record);
  }
}

void ResultStore::keep(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (std::string text = Workspace::keep_changed(workspace_.path(file)); !text.empty())
    changed_.push_back(std::move(text));
}

void ResultStore::write(const RunFiles& files, const std::function<void()>& write) {
  const ResultKey key{Step::kRun, files.name};
  begin(key);
  write();
  StepRecord record{nlohmann::json::object(), {}, nlohmann::json::object()};
  for (const std::string& file : files.files)
    if (auto identity = identify_file(workspace_.path(file)))
      record.outputs.push_back({file, *std::move(identity)});
  put(key, std::move(record));
}

std::vector<std::string> ResultStore::take_changed() {
  constexpr std::size_t kNamed = 5;
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts = std::exchange(changed_, {});
  std::ranges::sort(texts);
  if (const std::size_t all = texts.size(); all > kNamed + 1) {
    texts.resize(kNamed);
    texts.push_back(std::to_string(all - kNamed) + " more files in " + workspace_.root().string() +
                    " have been changed since they were written: they are kept in the same way");
  }
  return texts;
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
