#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"
#include "session/products/host_memory.hpp"

namespace recon {

/// The photo that a page shows a cloud as.
struct FirstView {
  Pinhole camera;
  Pose cam_from_world;
  double distance = 1;  ///< of what it shows, along its axis, scene units
};

/// A thinned cloud for a web page.
struct CloudView {
  /// x, y, z in units of `step` from `origin`: three numbers a point, 0..65535.
  std::vector<std::uint16_t> positions;
  std::vector<Rgb8> colours;
  std::vector<std::uint8_t> confidences;  ///< 255 times the confidence; empty where all are the same
  Vec3d origin;
  double step = 0;  ///< scene units

  Vec3d eye, target;  ///< of the first view, in the units of `positions`; it looks from one to the other
  Vec3d up;           ///< unit: the axis around which the view turns, which is upright in the first view
  double half_width = 0, half_height = 0;  ///< tangents of the angles from its axis to its edges

  std::size_t size() const { return colours.size(); }
};

/// The camera nearest to the middle of the centres of all, the first of those that are equally near.
/// @param cameras  cam_from_world, at least one
std::size_t central_camera(const std::vector<Pose>& cameras);

/// Every n-th point of a cloud that this program wrote, as few as `max_points`; those far from most others
/// are left out. Memory: that of these points.
/// @param cameras  cam_from_world; what is up is up for most of them, as far as the first view permits
/// @throws InputError
CloudView view_cloud(const std::filesystem::path& ply, const std::vector<Pose>& cameras,
                     const FirstView& first, std::size_t max_points = kMaxViewedPoints);

/// As the script of the page takes it: an object with the arrays in base64.
nlohmann::json cloud_view_json(const CloudView& view);

/// The bytes of a list. Source: RFC 4648, section 4.
std::string base64(std::string_view bytes);
template <class T>
std::string base64(const std::vector<T>& values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

/// A web page that needs no network: report.html, whose script shows the data that stand behind it. The same
/// data make the same bytes.
/// @param kind   of the data: "scene", "pair" or "session"
/// @param cloud  shown too where it has points and the program has three.js
std::string web_page(const char* kind, nlohmann::json data, const CloudView& cloud = {});

/// What stands before the data of a kind: in no other page, and not far from its beginning.
std::string data_mark(const char* kind);

/// The path of a file as an address relative to the page, in which any bytes are harmless.
std::string file_address(const std::string& file);

/// What the web pages contain, embedded when the program is built: report.html with its style and script, and
/// three.js with what draws the cloud by it; the latter is empty in a program that was built without
/// three.js.
std::string_view embedded_page();
std::string_view embedded_cloud_script();

}  // namespace recon
