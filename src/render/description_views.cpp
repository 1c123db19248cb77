#include "render/description_views.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "core/error.hpp"
#include "render/hash.hpp"

namespace recon {
namespace {

constexpr double kRadians = std::numbers::pi / 180;
constexpr int kMostViews = 100000;
/// Separates the hashes of this file from those of other random numbers.
constexpr std::uint64_t kStream = 0x4756;

int checked_count(JsonReader& reader, const std::string& name) {
  const int count = reader.integer(name);
  if (count < 1 || count > kMostViews)
    reader.fail(name, "is " + std::to_string(count) + "; it must be 1 to " + std::to_string(kMostViews));
  return count;
}

/// Positions on a circular arc around `centre` in the xy plane, cycling through the given heights.
std::vector<Vec3d> arc(JsonReader reader, std::optional<int> count_instead) {
  const Vec3d centre = reader.vec3("centre");
  const double radius = reader.number("radius");
  const double from = reader.number("from"), to = reader.number("to");
  const int written = checked_count(reader, "count");
  const std::vector<double> heights =
      reader.has("heights") ? reader.numbers("heights") : std::vector<double>{0};
  if (heights.empty()) reader.fail("heights", "is empty; leave it out or give a height");
  reader.finish();
  const int count = count_instead.value_or(written);
  std::vector<Vec3d> eyes;
  for (int i = 0; i < count; ++i) {
    const double angle = kRadians * (count > 1 ? from + (to - from) * i / (count - 1) : 0.5 * (from + to));
    eyes.push_back(centre +
                   Vec3d{radius * std::cos(angle), radius * std::sin(angle), heights[i % heights.size()]});
  }
  return eyes;
}

/// origin + column * right + row * down, row by row.
std::vector<Vec3d> grid(JsonReader reader) {
  const Vec3d origin = reader.vec3("origin"), right = reader.vec3("right"),
              down = reader.vec3("down", {0, 0, 0});
  const int columns = checked_count(reader, "columns"),
            rows = reader.has("rows") ? checked_count(reader, "rows") : 1;
  reader.finish();
  std::vector<Vec3d> eyes;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      eyes.push_back(origin + static_cast<double>(column) * right + static_cast<double>(row) * down);
  return eyes;
}

std::vector<Vec3d> eyes_of(JsonReader& group, std::optional<int> arc_count) {
  if (group.has("arc")) return arc(group.object("arc"), arc_count);
  if (group.has("grid")) return grid(group.object("grid"));
  return {group.vec3("eye")};
}

/// Reads one member of "views": a single view or a group of views. Names are assigned later.
std::vector<RenderView> read_group(JsonReader group, std::optional<int> arc_count) {
  const std::vector<Vec3d> eyes = eyes_of(group, arc_count);
  const bool parallel = group.has("direction");
  const Vec3d aim = parallel ? group.vec3("direction") : group.vec3("target");
  const Vec3d up = group.vec3("up", {0, 0, 1});
  const int camera = group.integer("camera", 0);
  const double gain = group.number("gain", 1.0);
  group.finish();
  std::vector<RenderView> views;
  for (const Vec3d eye : eyes) {
    try {
      views.push_back({"", camera, look_at(eye, parallel ? eye + aim : aim, up), gain});
    } catch (const InputError& error) {
      group.fail(parallel ? "direction" : "target", error.what());
    }
  }
  return views;
}

}  // namespace

std::vector<RenderView> read_views(JsonReader& root, std::uint32_t seed, std::optional<int> count) {
  const std::vector<JsonReader> groups = root.objects("views");
  std::vector<RenderView> views;
  for (const JsonReader& group : groups) {
    const std::vector<RenderView> more = read_group(group, groups.size() == 1 ? count : std::nullopt);
    views.insert(views.end(), more.begin(), more.end());
  }
  if (views.empty()) root.fail("views", "is empty; a scene needs at least one view");
  if (count) {
    if (*count < 1 || *count > static_cast<int>(views.size()))
      root.fail("views", "there are " + std::to_string(views.size()) + ", not " + std::to_string(*count) +
                             "; only an arc can be spread over more");
    views.resize(static_cast<std::size_t>(*count));
  }
  const std::string format = root.has("image_format") ? root.text("image_format") : "png";
  if (format != "png" && format != "jpg")
    root.fail("image_format", "is '" + format + "'; it must be png or jpg");
  const double spread = root.number("exposure_spread", 0.0);
  if (!(spread >= 0)) root.fail("exposure_spread", "it must be zero or positive");
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].name = view_name_of(static_cast<int>(i), static_cast<int>(views.size()), "." + format);
    views[i].gain *= std::pow(1 + spread, 2 * uniform_of(hash_of(kStream, seed, i)) - 1);
  }
  return views;
}

}  // namespace recon
