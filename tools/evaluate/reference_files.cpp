#include "tools/evaluate/reference_files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>
#include <string>

#include "core/error.hpp"
#include "core/json_reader.hpp"
#include "io/cloud/ply.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 1 << 20;  ///< of the small files here

AffineMap parse_transform(std::string text, const FilePlace& place) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  WordScanner words(text, place);
  std::array<double, 16> m;
  for (double& number : m) number = words.number("a number of the 4 x 4 matrix");
  if (!words.done() || m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1)
    place.fail("the matrix has to have 16 numbers, of which the last four are 0 0 0 1");
  return {{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}, {m[3], m[7], m[11]}};
}

/// Appends the points of the meshes of a project, an XML file in which each is as MeshLab writes it:
/// <MLMesh ... filename="..." ...> <MLMatrix44> 16 numbers </MLMatrix44>.
std::vector<Vec3d> read_project(const fs::path& path) {
  const std::string file = path.string(), text = read_file(path, kMaxBytes);
  const std::regex mesh("<MLMesh\\b"),
      whole(R"re(<MLMesh\b[^>]*\bfilename="([^"]*)"[^>]*>\s*<MLMatrix44>([^<]*)</MLMatrix44>)re");
  const std::sregex_iterator begin(text.begin(), text.end(), whole), end;
  const auto count = std::distance(std::sregex_iterator(text.begin(), text.end(), mesh), end);
  if (count == 0 || std::distance(begin, end) != count)
    throw InputError(file + ": is no project of MeshLab whose meshes have a filename and an MLMatrix44");
  std::vector<Vec3d> points;
  for (auto it = begin; it != end; ++it) {
    const AffineMap world_from_mesh = parse_transform((*it)[2], {file});
    for (const Vec3d point : read_ply(path.parent_path() / (*it)[1].str()).positions)
      points.push_back(world_from_mesh * point);
  }
  return points;
}

}  // namespace

AffineMap read_transform(const fs::path& path) {
  const std::string file = path.string();
  return parse_transform(read_file(path, kMaxBytes), {file});
}

CropVolume read_crop_volume(const fs::path& path) {
  const nlohmann::json json = parse_json(read_file(path, kMaxBytes), path.string());
  JsonReader root(json, path.string(), "");
  const std::string name = root.text("orthogonal_axis");
  const auto axis = std::string("XYZ").find(name);
  if (name.size() != 1 || axis == std::string::npos)
    root.fail("orthogonal_axis", "'{}' is none of X, Y, Z", name);
  CropVolume volume{static_cast<int>(axis), root.number("axis_min"), root.number("axis_max"), {}};
  if (json.contains("bounding_polygon"))
    for (const nlohmann::json& corner : json["bounding_polygon"]) {
      if (!corner.is_array() || corner.size() != 3 ||
          !std::ranges::all_of(corner, &nlohmann::json::is_number))
        root.fail("bounding_polygon", "each corner has to be a list of three numbers");
      volume.polygon.push_back({corner[axis == 0 ? 1 : 0], corner[axis == 2 ? 1 : 2]});
    }
  constexpr std::size_t kMinCorners = 3;
  if (volume.polygon.size() < kMinCorners)
    root.fail("bounding_polygon", "this has to be a list of at least {} corners", kMinCorners);
  return volume;
}

std::vector<Vec3d> read_reference(const fs::path& path) {
  std::vector<Vec3d> points = path.extension() == ".mlp" ? read_project(path) : read_ply(path).positions;
  if (points.empty())
    throw InputError(path.string() + ": it has no points: there is nothing to compare with");
  return points;
}

}  // namespace recon
