#include <algorithm>

#include "io/cloud/ply.hpp"
#include "io/file/output_file.hpp"
#include "io/map/map_files.hpp"
#include "session/products/host_memory.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/exports.hpp"
#include "session/scene/output_files.hpp"

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

namespace {

/// Bytes a pixel of the maps of a view before the check, and after it.
constexpr std::uint64_t kUnchecked = kDepthFileBytes + kConfidenceFileBytes;
constexpr std::uint64_t kChecked = kUnchecked + kNormalFileBytes;

/// Bytes of the files of all maps, at most. With --clean, the maps of a view before the check are removed
/// after the last check that needs them.
std::uint64_t map_file_bytes(const ScenePlan& plan, bool clean) {
  const std::vector<int> views = plan.views_in_scope();
  const auto size_of = [&](int view) { return pixels_of(plan.view(view).camera); };
  std::vector<std::size_t> last_check(plan.views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    last_check[views[i]] = i;
    for (const int source : plan.view(views[i]).sources) last_check[source] = i;
  }
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> removed(views.size());
  for (const int view : views) {
    bytes += size_of(view) * kUnchecked;
    if (clean) removed[last_check[view]] += size_of(view) * kUnchecked;
  }
  std::uint64_t max = bytes;
  for (std::size_t i = 0; i < views.size(); ++i) {
    bytes += size_of(views[i]) * kChecked;
    max = std::max(max, bytes);
    bytes -= removed[i];
  }
  return max;
}

/// Bytes of a COLMAP model of views, points and observations, each of which is in the track of its point too.
std::uint64_t model_bytes(std::uint64_t views, std::uint64_t points, std::uint64_t observations) {
  return 512 * views + 51 * points + (24 + 8) * observations;
}

}  // namespace

std::uint64_t output_bytes(const ScenePlan& plan, const SceneSettings& settings) {
  // About one pixel in four becomes a point, which six views see.
  constexpr std::uint64_t kPixelsPerPoint = 4, kViews = 6;
  // Tiles are written from a temporary file of the same size.
  std::uint64_t point = settings.cloud.tile > 0 ? 2 * PlyWriter::vertex_bytes(PlyPosition::kDouble) : 0;
  for (const CloudFile& file : cloud_files())
    if (file.is_wanted(plan, settings.cloud)) point += file.point_bytes;
  // The script of the report's page, and its points; of a view the records, its lines in the report and the
  // log.
  constexpr std::uint64_t kPage = std::uint64_t{1} << 20, kPagePoint = 14;
  constexpr std::uint64_t kViewRecords = std::uint64_t{16} << 10;
  const std::uint64_t views = plan.views.size();
  std::uint64_t bytes = map_file_bytes(plan, settings.check.clean) + kPage + kViewRecords * views, pixels = 0,
                observations = 0;
  for (const int view : plan.needed_views()) {
    const std::uint64_t size = pixels_of(plan.view(view).camera);
    bytes += size * 3;  // the undistorted image, were it not compressed
    if (!plan.scene_view(view).mask_hash.empty()) bytes += size;
    if (plan.view(view).in_scope) pixels += size;
    for (const PriorMap& map : prior_maps(plan.view(view).output_name, settings.cloud.export_priors))
      bytes += size * map.pixel_bytes;
    observations += plan.scene_view(view).observations.size();
  }
  const std::uint64_t points = pixels / kPixelsPerPoint;
  bytes +=
      pixels * (1 + point / kPixelsPerPoint) + kPagePoint * std::min<std::uint64_t>(points, kMaxViewedPoints);
  bytes += model_bytes(views, plan.scene.points.size(), observations);
  if (settings.cloud.export_points > 0) {
    const std::uint64_t exported = std::min<std::uint64_t>(points, settings.cloud.export_points);
    bytes += model_bytes(views, exported, kViews * exported);
  }
  return bytes;
}

}  // namespace recon
