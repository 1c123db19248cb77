#include "io/model/pair_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_size.hpp"

namespace recon {

namespace {

/// A value of a file of lines "KEY: VALUE", which may go on in the next lines.
struct KeyedText {
  std::string text;
  FilePlace place;
};
using KeyedTexts = std::map<std::string, KeyedText, std::less<>>;

/// The values of keys at the beginning of a line; of a key that is there twice the first one, as maps of
/// other keys may have it too.
KeyedTexts read_keyed_texts(std::string_view bytes, const std::string& file) {
  LineScanner lines(bytes, file);
  KeyedTexts texts;
  std::string* open = nullptr;
  for (std::string_view line; lines.next(line);) {
    const std::size_t colon = line.find(':');
    const bool begins = !line.empty() && line.front() != ' ' && line.front() != '\t' && line.front() != '%';
    if (begins && colon != std::string_view::npos) {
      const auto [it, added] =
          texts.emplace(std::string(trim(line.substr(0, colon))),
                        KeyedText{std::string(trim(line.substr(colon + 1))), lines.place()});
      open = added ? &it->second.text : nullptr;
    } else if (open != nullptr) {
      open->append(" ").append(trim(line));
    }
  }
  return texts;
}

/// The numbers of a text between commas or blanks.
Numbers numbers_of(std::string text, const std::string& key, const FilePlace& place) {
  std::ranges::replace(text, ',', ' ');
  WordScanner words(text, place);
  Numbers numbers;
  while (!words.done()) numbers.push_back(words.number(key));
  return numbers;
}

/// What stands in brackets in a value of YAML: a sequence, or the data of a matrix.
std::string in_brackets(const std::string& text, const char* key, const FilePlace& place) {
  const std::size_t begin = text.find('['), end = text.find(']', begin);
  if (end == std::string::npos) place.fail("the list of {} has no end", key);
  return text.substr(begin + 1, end - begin - 1);
}

Projection projection_of(const Numbers& numbers, const std::string& key, const FilePlace& place) {
  Projection projection{{}, key};
  if (numbers.size() != projection.m.size())
    place.fail("{} has {} numbers; a projection matrix of 3 rows and 4 columns has 12", key, numbers.size());
  std::ranges::copy(numbers, projection.m.begin());
  return projection;
}

/// Q of stereoRectify: [1 0 0 -cx; 0 1 0 -cy; 0 0 0 f; 0 0 1/B offset/B].
StereoCamera camera_of_q(const Numbers& q, const FilePlace& place) {
  if (q.size() != 16) place.fail("Q has {} numbers; it is a matrix of 4 rows and 4 columns", q.size());
  const double focal = q[11], per_baseline = q[14];
  if (!(focal > 0) || q[0] != 1 || q[5] != 1 || !std::isfinite(1 / per_baseline))
    place.fail("Q is not the matrix [1 0 0 -cx; 0 1 0 -cy; 0 0 0 f; 0 0 1/B d/B] of cv::stereoRectify");
  if (per_baseline < 0)
    place.fail("Q has the second camera left of the first; give the images in the other order");
  return {{0, 0, focal, focal, -q[3], -q[7]}, 1 / per_baseline, q[15] / per_baseline};
}

/// The key of a camera of KITTI: "P2" or "P_rect_02"; empty where the file has neither.
std::string kitti_key(const KeyedTexts& texts, int camera) {
  for (const std::string& key : {fmt::format("P{}", camera), fmt::format("P_rect_{:02}", camera)})
    if (texts.contains(key)) return key;
  return {};
}

}  // namespace

void set_size(Pinhole& camera, double width, double height, const FilePlace& place) {
  for (const double side : {width, height})
    if (!(side >= 1 && side <= kMaxFileSide) || side != std::floor(side))
      place.fail("the size of the images is {} x {}; both have to be whole numbers from 1 to {}",
                 plain(width), plain(height), kMaxFileSide);
  camera.width = static_cast<int>(width);
  camera.height = static_cast<int>(height);
}

StereoCamera stereo_camera(const Projection& left, const Projection& right, const std::string& file) {
  const FilePlace place{file};
  for (const auto& [m, name] : {left, right})
    if (!(m[0] > 0 && m[5] > 0) || m[1] != 0 || m[4] != 0 || m[8] != 0 || m[9] != 0 || m[10] != 1)
      place.fail("{} is no matrix [f 0 cx a; 0 f cy b; 0 0 1 c] with f > 0 of a rectified camera", name);
  const auto& a = left.m;
  const auto& b = right.m;
  const double tolerance = 1e-6 * a[0];
  if (std::abs(a[0] - b[0]) > tolerance || std::abs(a[5] - b[5]) > tolerance || std::abs(a[6] - b[6]) > 0.01)
    place.fail(
        "{} and {} differ in more than cx and the place of the camera; the pair is not rectified, or one "
        "camera stands above the other",
        left.name, right.name);
  const auto shift = [](const auto& m) {
    return Vec2d{(m[3] - m[2] * m[11]) / m[0], (m[7] - m[6] * m[11]) / m[5]};
  };
  const Vec2d baseline = {shift(a).x - shift(b).x, shift(a).y - shift(b).y};
  if (!(std::abs(baseline.x) > std::abs(baseline.y)) || !std::isfinite(baseline.x))
    place.fail(
        "by {} and {} the cameras are {} apart to the side and {} up; only pairs side by side are matched",
        left.name, right.name, plain(baseline.x), plain(baseline.y));
  if (baseline.x < 0)
    place.fail("by {} and {} the second camera is left of the first; give the images in the other order",
               left.name, right.name);
  return {{0, 0, a[0], a[5], a[2], a[6]}, baseline.x, b[2] - a[2]};
}

PairCalibration opencv_calibration(const OpencvValues& values, const std::string& file) {
  const FilePlace place{file};
  const auto find = [&](const char* key) {
    const auto it = values.find(key);
    return it == values.end() ? Numbers() : it->second;
  };
  PairCalibration calibration;
  calibration.format = "OpenCV";
  if (values.contains("P1") && values.contains("P2"))
    calibration.camera =
        stereo_camera(projection_of(find("P1"), "P1", place), projection_of(find("P2"), "P2", place), file);
  else if (values.contains("Q"))
    calibration.camera = camera_of_q(find("Q"), place);
  else
    place.fail(
        "there is neither P1 and P2 nor Q; a calibration of OpenCV needs what cv::stereoRectify returns for "
        "the images that were rectified with it");
  for (const char* key : {"imageSize", "image_size"})
    if (const Numbers size = find(key); size.size() == 2)
      set_size(calibration.camera.left, size[0], size[1], place);
  const Numbers width = find("image_width"), height = find("image_height");
  if (width.size() == 1 && height.size() == 1) set_size(calibration.camera.left, width[0], height[0], place);
  return calibration;
}

bool is_opencv_calibration(std::string_view bytes) {
  return bytes.starts_with("%YAML") || bytes.find("!!opencv-matrix") != std::string_view::npos;
}

PairCalibration parse_opencv_calibration(std::string_view bytes, const std::string& file) {
  const KeyedTexts texts = read_keyed_texts(bytes, file);
  OpencvValues values;
  for (const char* key : kOpencvKeys)
    if (const auto it = texts.find(key); it != texts.end()) {
      const auto& [text, place] = it->second;
      values[key] =
          numbers_of(text.find('[') == std::string::npos ? text : in_brackets(text, key, place), key, place);
    }
  return opencv_calibration(values, file);
}

bool is_kitti_calibration(std::string_view bytes, const std::string& file) {
  const KeyedTexts texts = read_keyed_texts(bytes, file);
  return std::ranges::any_of(std::array{0, 1, 2, 3},
                             [&](int camera) { return !kitti_key(texts, camera).empty(); });
}

PairCalibration parse_kitti_calibration(std::string_view bytes, const std::string& file,
                                        std::optional<KittiCameras> cameras) {
  const KeyedTexts texts = read_keyed_texts(bytes, file);
  const bool colour = !kitti_key(texts, 2).empty() && !kitti_key(texts, 3).empty();
  const auto [left, right] = cameras.value_or(colour ? KittiCameras{2, 3} : KittiCameras{0, 1});
  const auto projection = [&](int camera) {
    const std::string key = kitti_key(texts, camera);
    if (key.empty())
      FilePlace{file}.fail("there is neither a line P{}: nor P_rect_0{}:, of camera {} of KITTI", camera,
                           camera, camera);
    const KeyedText& value = texts.find(key)->second;
    return projection_of(numbers_of(value.text, key, value.place), key, value.place);
  };
  PairCalibration calibration;
  const Projection first = projection(left), second = projection(right);
  calibration.camera = stereo_camera(first, second, file);
  calibration.unit = LengthUnit::kMetre;
  calibration.format = "KITTI";
  if (!cameras)
    calibration.note =
        fmt::format("the images are taken for those of cameras {} and {} of KITTI", left, right);
  if (const auto size = texts.find(fmt::format("S_rect_{:02}", left)); size != texts.end())
    if (const Numbers sides = numbers_of(size->second.text, size->first, size->second.place);
        sides.size() == 2)
      set_size(calibration.camera.left, sides[0], sides[1], size->second.place);
  return calibration;
}

}  // namespace recon
