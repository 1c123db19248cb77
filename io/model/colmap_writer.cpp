#include <cstdint>
#include <string>
#include <string_view>

#include "io/file/byte_reader.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/colmap_formats.hpp"

namespace recon {
namespace {

/// Writes a file in pieces: words of a line, separated by blanks, or bytes.
class RecordWriter {
 public:
  /// @param heading  comment lines of a text
  RecordWriter(ColmapFormat format, const ByteSink& sink, const std::string& heading,
               std::string_view records, std::uint64_t count)
      : text_(format == ColmapFormat::kText), sink_(sink) {
    if (text_)
      out_ = heading + "# Number of " + std::string(records) + ": " + std::to_string(count) + "\n";
    else
      put(count);
    flush();
  }

  bool is_text() const { return text_; }

  template <class... T>
  void put(T... values) {
    if (text_)
      (put_word(decimal(values)), ...);
    else
      (append_number(out_, values), ...);
  }

  /// A word; in bytes up to a NUL.
  void put_word(std::string_view word) {
    if (text_ && !out_.empty()) out_ += ' ';
    out_ += word;
    if (!text_) out_ += '\0';
  }

  void end_line() {
    if (text_) out_ += '\n';
    flush();
  }

 private:
  void flush() {
    sink_(out_);
    out_.clear();
  }

  const bool text_;
  const ByteSink& sink_;
  std::string out_;
};

void write_view(const Scene& scene, const View& view, RecordWriter& out) {
  if (out.is_text() && trim(view.name) != view.name)
    throw InputError(
        "the image name " + in_quotes(view.name) +
        " begins or ends with a blank, which COLMAP's text format cannot hold; rename the image");
  const Quaternion q = quaternion_of(view.cam_from_world.rotation);
  const auto [x, y, z] = view.cam_from_world.translation;
  out.put(view.id, q.w, q.x, q.y, q.z, x, y, z, scene.camera_ids[view.camera]);
  out.put_word(view.name);
  out.end_line();
  if (!out.is_text()) out.put(std::uint64_t{view.observations.size()});
  for (const Observation& observation : view.observations) {
    out.put(observation.pixel.x, observation.pixel.y);
    if (out.is_text() && observation.point_id == kNoPoint)
      out.put_word("-1");
    else
      out.put(observation.point_id);
  }
  out.end_line();
}

}  // namespace

void format_colmap_cameras(const Scene& scene, ColmapFormat format, const ByteSink& sink) {
  RecordWriter out(
      format, sink,
      "# Camera list with one line of data per camera:\n#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n",
      "cameras", scene.cameras.size());
  for (std::size_t i = 0; i < scene.cameras.size(); ++i) {
    const Camera& camera = scene.cameras[i];
    out.put(scene.camera_ids[i]);
    if (out.is_text())
      out.put_word(model_name(camera.model));
    else
      out.put(static_cast<std::int32_t>(camera.model));
    out.put(static_cast<std::uint64_t>(camera.width), static_cast<std::uint64_t>(camera.height));
    for (const double param : camera.params) out.put(param);
    out.end_line();
  }
}

void format_colmap_images(const Scene& scene, ColmapFormat format, const ByteSink& sink) {
  RecordWriter out(format, sink,
                   "# Image list with two lines of data per image:\n"
                   "#   IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n"
                   "#   POINTS2D[] as (X, Y, POINT3D_ID)\n",
                   "images", scene.views.size());
  for (const View& view : scene.views) write_view(scene, view, out);
}

void format_colmap_points(const Scene& scene, ColmapFormat format, const ByteSink& sink) {
  RecordWriter out(format, sink,
                   "# 3D point list with one line of data per point:\n"
                   "#   POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n",
                   "points", scene.points.size());
  for (const SparsePoint& point : scene.points) {
    const auto [x, y, z] = point.position;
    const auto [r, g, b] = point.colour;
    out.put(point.id, x, y, z, r, g, b, point.error);
    if (!out.is_text()) out.put(std::uint64_t{point.track.size()});
    for (const TrackElement& element : point.track)
      out.put(scene.views[element.view].id, element.observation);
    out.end_line();
  }
}

}  // namespace recon
