#include "session/resume/changed_cloud.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

std::string keep_changed_cloud(const Workspace& workspace, Step step) {
  const std::filesystem::path cloud = workspace.path(Workspace::cloud_file());
  const auto record = read_record(workspace.path(Workspace::record_file(step)));
  if (!record || !is_file(cloud)) return {};
  const auto written = std::ranges::find(record->outputs, Workspace::cloud_file(), &OutputFile::name);
  if (written == record->outputs.end() || identify_file(cloud) == written->identity) return {};
  std::error_code error;
  std::filesystem::path kept = workspace.path("fused.changed.ply");
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(kept, error)); ++i)
    kept = workspace.path(fmt::format("fused.changed-{}.ply", i));
  std::filesystem::rename(cloud, kept, error);
  if (error) throw OutputError(cloud.string() + ": cannot be renamed: " + error.message());
  return fmt::format("{} has been changed since it was written: it is kept as {}", cloud.string(),
                     kept.filename().string());
}

}  // namespace recon
