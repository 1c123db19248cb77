#include "io/model/posed_photos.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "core/paths.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {

Pose rigid_pose(std::span<const double, 16> m, const FilePlace& place) {
  constexpr double kTolerance = 1e-3;  // three digits behind the point
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] == 0)
    place.fail("the last row of the matrix is {} {} {} {}; it has to be 0 0 0 1", plain(m[12]), plain(m[13]),
               plain(m[14]), plain(m[15]));
  const double w = m[15];
  const Mat3d r{{m[0] / w, m[1] / w, m[2] / w, m[4] / w, m[5] / w, m[6] / w, m[8] / w, m[9] / w, m[10] / w}};
  const Mat3d product = r * transpose(r), one = identity<double>();
  double difference = 0;
  for (int i = 0; i < 9; ++i) difference = std::max(difference, std::abs(product.m[i] - one.m[i]));
  if (!(difference <= kTolerance))
    place.fail(
        "the upper left 3x3 matrix R is no rotation: R R^T differs from the identity by {}; write the pose "
        "without scale and shear",
        plain(difference));
  const Vec3d x{r(0, 0), r(0, 1), r(0, 2)}, y{r(1, 0), r(1, 1), r(1, 2)}, z{r(2, 0), r(2, 1), r(2, 2)};
  if (dot(cross(x, y), z) < 0)
    place.fail("the upper left 3x3 matrix is a mirror, its determinant is -1; write the pose as a rotation");
  return {rotation_of(quaternion_of(r)), {m[3] / w, m[7] / w, m[11] / w}};
}

std::optional<ImageSize> PosedPhotos::size_of(const View& view) {
  try {
    return image_size(folder_ / view.photo_file());
  } catch (const InputError& error) {
    leave_out(view.name, error.what());
    return std::nullopt;
  }
}

void PosedPhotos::leave_out(const std::string& name, const std::string& reason) {
  left_out_.emplace(normalised_name(name), reason);
}

void PosedPhotos::add(View view, Camera camera, const FilePlace& place) {
  const CameraKey key{camera.model, camera.width, camera.height, camera.params};
  const std::string name = normalised_name(view.name);
  const FirstView here{view.photo, view.cam_from_world, key, place.text()};
  const auto [first, is_first] = first_views_.emplace(name, here);
  if (!is_first && first->second.photo == view.photo) return note_duplicate(first->second, here, name);
  const auto id = static_cast<std::uint32_t>(camera_ids_.size() + 1);
  const auto [known, added] = camera_ids_.emplace(key, id);
  if (added) builder_.add_camera(id, std::move(camera), place);
  view.id = ++views_;
  const Quaternion rotation = quaternion_of(view.cam_from_world.rotation);
  builder_.add_view(std::move(view), known->second, rotation, place);
}

void PosedPhotos::note_duplicate(const FirstView& first, const FirstView& second, const std::string& name) {
  if (duplicates_++ == 0)
    first_duplicate_ =
        fmt::format("{}: the photo {} is there already, in {}", second.place, in_quotes(name), first.place);
  const auto translation = [](const FirstView& view) {
    const auto [x, y, z] = view.pose.translation;
    return std::tuple(x, y, z);
  };
  const bool same = std::equal(first.pose.rotation.m, first.pose.rotation.m + 9, second.pose.rotation.m) &&
                    translation(first) == translation(second) && first.camera == second.camera;
  contradicting_ += same ? 0 : 1;
}

Scene PosedPhotos::finish(const std::string& file) {
  if (views_ == 0) {
    const std::string prefix = file + ": ";
    if (left_out_.empty()) throw InputError(prefix + "there is no photo in it; a scene needs at least two");
    const std::string& reason = left_out_.begin()->second;
    throw InputError(prefix + "none of its photos can be used: " +
                     (reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason));
  }
  Scene scene = builder_.finish(file);
  for (const auto& [name, reason] : left_out_) scene.unusable.push_back({name, reason});
  if (duplicates_ > 0)
    scene.warnings.push_back(
        first_duplicate_ + "; the second is left out" +
        (duplicates_ > 1 ? fmt::format(", as are {} more of that kind", duplicates_ - 1) : std::string()) +
        (contradicting_ > 0 ? fmt::format("; {} of them with another pose or camera than "
                                          "the first: check which one is right",
                                          contradicting_)
                            : std::string()));
  return scene;
}

namespace {

namespace fs = std::filesystem;

bool has_drive(const std::string& path) {
  return path.size() >= 2 && path[1] == ':' && std::isalpha(static_cast<unsigned char>(path[0])) != 0;
}

/// False also where that cannot be found out: the view of such a photo is left out, as of one that is not
/// there.
bool is_there_with_or_without_ending(const fs::path& folder, const fs::path& path) {
  return if_readable(
      [&] { return is_there_to_read(folder / path) || !find_image(folder, path.string()).empty(); }, false);
}

/// Of the last components of a path those that lead to a file in `folder`, as many as possible.
ModelFile find_by_last_components(const fs::path& folder, const fs::path& path) {
  std::vector<fs::path> tails = {{}};
  for (auto part = path.end(); part != path.begin();) {
    --part;
    tails.push_back(tails.back().empty() ? *part : *part / tails.back());
  }
  for (auto longest = tails.rbegin(); longest != std::prev(tails.rend()); ++longest)
    if (is_there_with_or_without_ending(folder, *longest)) return {longest->string(), longest->string()};
  const std::string last = path.filename().string();
  return {last, last, false};
}

}  // namespace

ModelFile find_model_file(const fs::path& folder, const std::string& stated, bool moved,
                          const FilePlace& place) {
  std::string text = stated;
  const bool from_root = text.starts_with('/') || text.starts_with('\\') || has_drive(text);
  if (has_drive(text)) text.erase(0, 2);
  if (from_root || !is_there_with_or_without_ending(folder, text)) std::ranges::replace(text, '\\', '/');
  const fs::path path = fs::path(text).lexically_normal().relative_path();
  fs::path below;
  int above = 0;
  for (const fs::path& part : path)
    if (part == "..")
      ++above;
    else
      below /= part;
  if (above > 1 && !moved)
    place.fail(
        "the path {} leads out of the folder of the model and its parent; move the photos, or name their "
        "folder with --images",
        in_quotes(stated));
  check_relative_name(below.string(), place);
  if (from_root || moved) return find_by_last_components(folder, below);
  return {below.string(), path.string()};
}

}  // namespace recon
