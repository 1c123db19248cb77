#include "io/model/mvsnet_model.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "core/paths.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/posed_photos.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = "_cam.txt";

WordScanner next_line(LineScanner& lines, const std::string& what) {
  std::string_view line;
  if (!lines.next_content(line))
    lines.place().fail("the file ends where {} should stand; it is truncated", what);
  return {line, lines.place()};
}

/// A matrix, and the conventions that the line with its name states behind it, in lower case.
template <std::size_t kSide>
struct NamedMatrix {
  std::array<double, kSide * kSide> rows{};
  std::string remark;
};

/// Reads a line that begins with the name of a matrix, and its rows.
template <std::size_t kSide>
NamedMatrix<kSide> read_matrix(LineScanner& lines, const std::string& name) {
  const WordScanner title = next_line(lines, in_quotes(name));
  const std::string remark = lower_case(std::string(title.rest()));
  if (!remark.starts_with(name) ||
      (remark.size() > name.size() && std::isalnum(static_cast<unsigned char>(remark[name.size()])) != 0))
    title.place().fail("the line is {}; it has to begin with {}", in_quotes(title.rest()), in_quotes(name));
  NamedMatrix<kSide> named{{}, remark.substr(name.size())};
  auto& matrix = named.rows;
  for (std::size_t row = 0; row < kSide; ++row) {
    WordScanner words = next_line(lines, "a row of the matrix " + in_quotes(name));
    for (std::size_t column = 0; column < kSide; ++column)
      matrix[row * kSide + column] = words.number("an element of the matrix " + in_quotes(name));
    if (!words.done())
      words.place().fail("{} follows a row of {} numbers", in_quotes(words.rest()), int{kSide});
  }
  return named;
}

bool mentions(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return text.find(word) != std::string::npos; });
}

}  // namespace

MvsnetCamera parse_mvsnet_camera(std::string_view bytes, const std::string& file) {
  LineScanner lines(bytes, file);
  MvsnetCamera camera;
  const auto [extrinsic, remark] = read_matrix<4>(lines, "extrinsic");
  if (mentions(remark, {"opengl", "y up", "z backward"}))
    lines.place().fail(
        "the matrix \"extrinsic\" is of other axes, by the words {}; write it for x right, y down, z forward",
        in_quotes(remark));
  camera.cam_from_world = rigid_pose(extrinsic, lines.place());
  if (mentions(remark, {"camera2world", "cam2world", "c2w"}))
    camera.cam_from_world = inverse(camera.cam_from_world);
  const auto k = read_matrix<3>(lines, "intrinsic").rows;
  const double max_skew = 1e-6 * k[0];  // what rounding leaves in a matrix from a decomposition
  if (!(k[0] > 0) || std::abs(k[1]) > max_skew || k[3] != 0 || !(k[4] > 0) || k[6] != 0 || k[7] != 0 ||
      k[8] != 1)
    lines.place().fail(
        "the matrix \"intrinsic\" ends here and begins with {} {}; it has to be [fx 0 cx; 0 fy cy; "
        "0 0 1], with fx and fy above 0",
        plain(k[0]), plain(k[1]));
  // No shift: in the files of MVSNet, too, the centre of the first pixel is at (0.5, 0.5).
  camera.pinhole = {0, 0, k[0], k[4], k[2], k[5]};
  return camera;
}

std::vector<fs::path> mvsnet_camera_files(const fs::path& cams) {
  std::vector<fs::path> files;
  for_each_in_folder(cams, [&](const fs::path& path) {
    if (path.filename().string().ends_with(kEnding)) files.push_back(path);
  });
  std::ranges::sort(files);
  return files;
}

Scene read_mvsnet_model(const fs::path& cams, const fs::path& images, std::size_t memory_limit) {
  PosedPhotos photos(images, memory_limit);
  for (const fs::path& path : mvsnet_camera_files(cams)) {
    const std::string file = path.string();
    std::string stem = path.filename().string();
    stem.resize(stem.size() - kEnding.size());
    MvsnetCamera camera;
    fs::path photo;
    try {
      camera = parse_mvsnet_camera(read_file(path), file);
      photo = find_image(images, stem);
    } catch (const InputError& error) {
      photos.leave_out(stem + ".jpg", error.what());
      continue;
    }
    if (photo.empty()) {
      const std::string missing = stem + ".jpg";
      photos.leave_out(missing,
                       (images / missing).string() + ": there is no such photo, nor one of another kind");
      continue;
    }
    View view;
    view.name = photo.filename().string();
    view.cam_from_world = camera.cam_from_world;
    const auto size = photos.size_of(view);
    if (!size) continue;
    camera.pinhole.width = size->width;
    camera.pinhole.height = size->height;
    photos.add(std::move(view), to_camera(camera.pinhole), {file});
  }
  return photos.finish(cams.string());
}

}  // namespace recon
