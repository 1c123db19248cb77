#include "io/model/pair_folder.hpp"

#include <array>
#include <cmath>
#include <map>
#include <regex>

#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "io/file/input_file.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/pair_formats.hpp"

namespace recon {
namespace {

struct Value {
  std::string_view text;
  FilePlace place;
};
using Values = std::map<std::string, Value, std::less<>>;

Values read_values(std::string_view bytes, const std::string& file) {
  LineScanner lines(bytes, file);
  Values values;
  for (std::string_view line; lines.next_content(line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      lines.place().fail(
          "the line is {}; it has to be KEY=VALUE (Middlebury). Files of OpenCV (YAML or JSON), KITTI (P0: "
          "to P3:) and RealSense (JSON) are read too",
          in_quotes(line));
    const std::string key(trim(line.substr(0, equals)));
    if (!values.emplace(key, Value{trim(line.substr(equals + 1)), lines.place()}).second)
      lines.place().fail("{} is there twice", in_quotes(key));
  }
  return values;
}

const Value* find(const Values& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

const Value& need(const Values& values, std::string_view key, const std::string& file) {
  if (const Value* value = find(values, key)) return *value;
  FilePlace{file}.fail("there is no line {}=; a calibration needs cam0, cam1 and baseline", key);
}

double number(const Value& value, std::string_view key) {
  WordScanner words(value.text, value.place);
  const double result = words.number(key);
  if (!words.done()) value.place.fail("{} follows {}", in_quotes(words.rest()), key);
  return result;
}

int positive_integer(const Value& value, std::string_view key) {
  WordScanner words(value.text, value.place);
  const int result = words.integer<int>(key);
  if (!words.done() || result < 1)
    value.place.fail("{} is {}; it has to be a positive integer", key, in_quotes(value.text));
  return result;
}

/// Parses "[f 0 cx; 0 f cy; 0 0 1]".
Pinhole matrix(const Value& value, const std::string& key) {
  const auto fail = [&] {
    value.place.fail("{} is {}; it has to be [f 0 cx; 0 f cy; 0 0 1], with f > 0", key,
                     in_quotes(value.text));
  };
  std::string text(value.text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') fail();
  text = text.substr(1, text.size() - 2);
  std::array<double, 9> m{};
  for (int row = 0; row < 3; ++row) {
    const std::size_t end = text.find(';');
    if ((end == std::string::npos) != (row == 2)) fail();
    WordScanner words(std::string_view(text).substr(0, end), value.place);
    for (int column = 0; column < 3; ++column) m[3 * row + column] = words.number(key);
    if (!words.done()) fail();
    text = end == std::string::npos ? std::string() : text.substr(end + 1);
  }
  if (!(m[0] > 0) || m[1] != 0 || m[3] != 0 || !(m[4] > 0) || m[6] != 0 || m[7] != 0 || m[8] != 1) fail();
  return {0, 0, m[0], m[4], m[2], m[5]};
}

bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance;
}

void check_rectified(const Pinhole& left, const Pinhole& right, const Value& place) {
  const double tolerance = 1e-6 * left.fx;
  if (near(left.fx, right.fx, tolerance) && near(left.fy, right.fy, tolerance) &&
      near(left.cy, right.cy, 0.01))
    return;
  place.place.fail("cam1 is {}, which differs from cam0 in more than cx; the pair is not rectified",
                   in_quotes(place.text));
}

double offset_of(const Values& values, const Pinhole& left, const Pinhole& right) {
  const Value* value = find(values, "doffs");
  if (!value) return right.cx - left.cx;
  const double offset = number(*value, "doffs");
  if (!near(offset, right.cx - left.cx, 0.5))
    value->place.fail("doffs is {}, but cx of cam1 less cx of cam0 is {}", in_quotes(value->text),
                      plain(right.cx - left.cx));
  return offset;
}

PairCalibration parse_middlebury_calibration(std::string_view bytes, const std::string& file) {
  const Values values = read_values(bytes, file);
  PairCalibration calibration;
  calibration.unit = LengthUnit::kMillimetre;
  calibration.format = "Middlebury";
  Pinhole& left = calibration.camera.left;
  left = matrix(need(values, "cam0", file), "cam0");
  const Value& right_value = need(values, "cam1", file);
  const Pinhole right = matrix(right_value, "cam1");
  check_rectified(left, right, right_value);
  calibration.camera.offset = offset_of(values, left, right);
  const Value& baseline = need(values, "baseline", file);
  calibration.camera.baseline = number(baseline, "baseline");
  if (!(calibration.camera.baseline > 0))
    baseline.place.fail("baseline is {}; it has to be positive", in_quotes(baseline.text));
  if (const Value* width = find(values, "width")) left.width = positive_integer(*width, "width");
  if (const Value* height = find(values, "height")) left.height = positive_integer(*height, "height");
  if (const Value* ndisp = find(values, "ndisp")) calibration.disparities = positive_integer(*ndisp, "ndisp");
  return calibration;
}

}  // namespace

const char* unit_name(LengthUnit unit) {
  return unit == LengthUnit::kMillimetre ? "mm" : unit == LengthUnit::kMetre ? "m" : "";
}

std::optional<KittiCameras> kitti_cameras(const std::filesystem::path& left,
                                          const std::filesystem::path& right) {
  const auto number = [](const std::filesystem::path& image) {
    static const std::regex kFolder("image_0?([0-3])");
    std::smatch match;
    for (const auto& part : image.parent_path())
      if (const std::string name = part.string(); std::regex_match(name, match, kFolder))
        return std::stoi(match[1]);
    return -1;
  };
  const KittiCameras cameras = {number(left), number(right)};
  if (cameras.first < 0 || cameras.second < 0 || cameras.first == cameras.second) return std::nullopt;
  return cameras;
}

PairCalibration read_pair_calibration(const std::filesystem::path& path,
                                      std::optional<KittiCameras> cameras) {
  return parse_pair_calibration(read_file(path), path.string(), cameras);
}

PairCalibration parse_pair_calibration(std::string_view bytes, const std::string& file,
                                       std::optional<KittiCameras> cameras) {
  const std::size_t first = bytes.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const std::string_view text = first == std::string_view::npos ? bytes : bytes.substr(first);
  PairCalibration calibration = text.starts_with('{')          ? parse_json_calibration(text, file)
                                : is_opencv_calibration(bytes) ? parse_opencv_calibration(bytes, file)
                                : is_kitti_calibration(bytes, file)
                                    ? parse_kitti_calibration(bytes, file, cameras)
                                    : parse_middlebury_calibration(bytes, file);
  // The origin of all formats is the centre of the first pixel.
  const Vec2d origin = pixel_centre(0, 0);
  calibration.camera.left.cx += origin.x;
  calibration.camera.left.cy += origin.y;
  return calibration;
}

}  // namespace recon
