#include "session/resume/overwrite_note.hpp"

#include <fmt/format.h>

#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

namespace fs = std::filesystem;

OverwriteNote::OverwriteNote(const WorkPart& part, const fs::path& folder,
                             const std::vector<fs::path>& inputs)
    : folder_(folder) {
  const Shard& shard = part.shard;
  file_ = folder / "status" /
          (shard.count == 1 ? "overwrite" : fmt::format("overwrite.{}-of-{}", shard.index, shard.count));
  nlohmann::json note = {{"stage", static_cast<int>(part.stage)}, {"views", part.views}};
  for (const fs::path& input : inputs) note["inputs"].push_back(resolved_path(input).string());
  text_ = json_text(note);
}

void OverwriteNote::write() const {
  try {
    if (is_output(folder_) && !fs::is_symlink(folder_ / "status")) write_file(file_, text_);
  } catch (const Error&) {
  } catch (const fs::filesystem_error&) {
  }
}

bool OverwriteNote::is_there() const {
  try {
    return is_file(file_) && read_file(file_) == text_;
  } catch (const Error&) {
    return false;
  }
}

void OverwriteNote::remove() const {
  std::error_code ignored;
  if (is_there()) fs::remove(file_, ignored);
}

}  // namespace recon
