// --export-points: a COLMAP model with points of the cloud, from which splats begin.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/quantile.hpp"
#include "io/cloud/ply.hpp"
#include "io/cloud/ply_thinning.hpp"
#include "io/cloud/ply_vertices.hpp"
#include "io/model/colmap_model.hpp"
#include "session/options/option_text.hpp"
#include "session/products/host_memory.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/exports.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

std::string exported_model() {
  return Workspace::export_folder() + "/sparse/0";
}

/// Gaussian splatting makes this file of the points when it first reads a model, and reads it from then on.
void warn_of_converted_points(const Workspace& workspace, Findings& findings) {
  const fs::path file = workspace.path(exported_model()) / "points3D.ply";
  if (std::error_code ignored; fs::exists(file, ignored))
    findings.warn(file.string() +
                  ": another program made this file of earlier points, and reads it instead of the new ones; "
                  "remove it");
}

/// The undistorted views without observations and points.
Scene bare_model(const ScenePlan& plan) {
  ScenePlan bare = plan;
  bare.scene.points.clear();
  for (View& view : bare.scene.views) view.observations.clear();
  return undistorted_scene(bare);
}

/// @throws OutOfMemory when the points and their tracks take more than the run may
void check_export_memory(const Workspace& workspace, int asked, std::uint64_t points,
                         std::uint64_t cloud_points, std::size_t memory) {
  const std::uint64_t bytes = fs::file_size(workspace.path(Workspace::visibility_file()));
  const double views = static_cast<double>(bytes) / sizeof(std::uint32_t) / static_cast<double>(cloud_points);
  constexpr double kGrowth = 2;  // of vectors
  const double each =
      kThinningBytes + sizeof(SparsePoint) + views * kGrowth * (sizeof(Observation) + sizeof(TrackElement));
  const auto needed = static_cast<std::size_t>(each * static_cast<double>(points));
  if (kProgramBytes + needed <= memory) return;
  throw OutOfMemory(fmt::format(
      "{}: --export-points {} takes up to {} of memory, and the limit is {}; lower it, or "
      "raise --memory-limit",
      workspace.root().string(), asked, format_byte_size(kProgramBytes + needed), format_byte_size(memory)));
}

/// The ball about the middle of the views in which they stand; one in ten, which may stand elsewhere, does
/// not count. What is beyond is thinned as they see it, so that a huge far surface leaves near ones points.
NearBall ball_of_views(const ScenePlan& plan) {
  constexpr double kMostViews = 0.9;
  std::vector<Vec3d> centres;
  std::vector<double> x, y, z, distances;
  for (const int view : plan.needed_views()) {
    const Vec3d centre = centres.emplace_back(camera_centre(plan.scene_view(view).cam_from_world));
    x.push_back(centre.x), y.push_back(centre.y), z.push_back(centre.z);
  }
  NearBall ball{{lower_quantile(x, 0.5), lower_quantile(y, 0.5), lower_quantile(z, 0.5)}};
  for (const Vec3d& centre : centres) distances.push_back(norm(centre - ball.centre));
  std::ranges::sort(distances);
  const double counting = std::ceil(kMostViews * static_cast<double>(distances.size() - 1));
  if (const double farthest = distances[static_cast<std::size_t>(counting)]; farthest > 0)
    ball.radius = farthest;
  return ball;
}

/// Positions and colours of some vertices of the cloud.
std::vector<SparsePoint> read_points(const fs::path& cloud, const std::vector<std::uint64_t>& indices) {
  const PlyVertices vertices(cloud);
  std::vector<SparsePoint> points(indices.size());
  std::string bytes;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    bytes = vertices.header(1);
    vertices.read(indices[i], 1, bytes);
    const PlyCloud one = parse_ply(bytes, vertices.file());
    points[i] = {i + 1, one.positions.front(), one.colours.front(), -1, {}};  // COLMAP: the error is unknown
  }
  return points;
}

/// Adds the observations of points and their tracks, by the visibility file of the cloud.
void add_tracks(const SceneProducts& products, const std::vector<std::uint64_t>& indices, Scene& scene) {
  const std::string file = products.workspace.path(Workspace::visibility_file()).string();
  InputStream stream{fs::path(file)};
  ByteReader reader(stream, file);
  reader.read<std::uint64_t>("the number of points");
  const std::vector<int> order = products.plan.needed_views();
  std::vector<SparsePoint>& points = scene.points.edit();
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < indices.size(); ++at) {
    const auto views = reader.read<std::uint32_t>("the number of views");
    if (at < indices[i]) {
      reader.skip(views * sizeof(std::uint32_t), "the views of a point");
      continue;
    }
    SparsePoint& point = points[i++];
    for (std::uint32_t k = 0; k < views; ++k) {
      const auto view = reader.read<std::uint32_t>("the views of a point");
      if (view >= scene.views.size()) reader.place().fail("view {} of a point is none of the model", view);
      View& it = scene.views[view];
      const Vec2d pixel = products.plan.view(order[view]).camera.project(it.cam_from_world * point.position);
      point.track.push_back({static_cast<int>(view), static_cast<std::uint32_t>(it.observations.size())});
      it.observations.push_back({pixel, point.id});
    }
  }
}

}  // namespace

std::vector<std::string> point_files() {
  std::vector<std::string> files;
  for (const char* part : {"cameras", "images", "points3D"})
    files.push_back(exported_model() + "/" + part + ".bin");
  return files;
}

std::size_t export_points(const SceneProducts& products, const CloudSettings& cloud, std::size_t memory,
                          Findings& findings) {
  const Workspace& workspace = products.workspace;
  const fs::path file = workspace.path(Workspace::cloud_file());
  const std::uint64_t all = PlyVertices(file).count();
  const auto most = static_cast<std::uint64_t>(cloud.export_points);
  check_export_memory(workspace, cloud.export_points, std::min(all, most), all, memory);
  const std::vector<std::uint64_t> indices = thin_ply(file, most, ball_of_views(products.plan));
  Scene scene = bare_model(products.plan);
  scene.points = read_points(file, indices);
  add_tracks(products, indices, scene);
  subtract_offset(scene, cloud_offset(products.plan, cloud));
  write_colmap_model(workspace.path(exported_model()), scene, ColmapFormat::kBinary);
  warn_of_converted_points(workspace, findings);
  messages().info("export: {} of {} points are in {}", indices.size(), all,
                  workspace.path(Workspace::export_folder()).string());
  return indices.size();
}

}  // namespace recon
