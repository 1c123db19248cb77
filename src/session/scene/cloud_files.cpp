#include "session/scene/cloud_files.hpp"

#include "io/cloud/ply.hpp"
#include "io/file/output_file.hpp"
#include "session/scene/cloud_offset.hpp"

namespace recon {

const std::vector<CloudFile>& cloud_files() {
  constexpr std::uint64_t kViews = 6;  // that see a point, about
  static const std::vector<CloudFile> kFiles = {
      {Workspace::cloud_file(), PlyWriter::vertex_bytes(PlyPosition::kDouble)},
      {Workspace::visibility_file(), (1 + kViews) * PlyWriter::kListedBytes},
      {Workspace::offset_file(), 0,
       [](const ScenePlan& plan, const CloudSettings& cloud) {
         return has_offset(cloud_offset(plan, cloud));
       },
       [](const Workspace& workspace, const ScenePlan& plan, const CloudSettings& cloud) {
         return write_file(workspace.path(Workspace::offset_file()),
                           offset_file_text(cloud_offset(plan, cloud)));
       }}};
  return kFiles;
}

}  // namespace recon
