#include "session/report/report_files.hpp"

#include <system_error>

#include "core/paths.hpp"

namespace recon {

namespace fs = std::filesystem;

fs::path report_file(const Workspace& workspace, const Shard& shard, const char* extension) {
  return workspace.path(Workspace::report_name(shard) + extension);
}

fs::path set_aside(const fs::path& report) {
  return report.parent_path() / "status" / report.filename();
}

void set_reports_aside(const Workspace& workspace, const Shard& shard) {
  for (const char* extension : {".json", ".html"}) {
    const fs::path file = report_file(workspace, shard, extension);
    std::error_code error;
    fs::rename(file, set_aside(file), error);
    if (error) remove_result(file);
  }
}

}  // namespace recon
