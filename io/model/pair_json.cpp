#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/json_reader.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/model/pair_formats.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// A key without what programs write differently: "Infrared_1" and "infrared1".
std::string plain_key(const std::string& key) {
  std::string plain;
  for (const char c : lower_case(key))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += c;
  return plain;
}

bool holds(const std::string& key, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return key.find(word) != std::string::npos; });
}

/// Calls `visit(plain key, value)` for all members of an object, those of inner objects after it, until it
/// returns true.
template <class Visit>
bool visit_members(const json& object, const Visit& visit) {
  if (!object.is_object()) return false;
  for (const auto& [key, value] : object.items())
    if (visit(plain_key(key), value)) return true;
  return std::ranges::any_of(object, [&](const json& value) { return visit_members(value, visit); });
}

/// A member by its plain key; null where there is none.
const json* member(const json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    for (const auto& [name, value] : object.items())
      if (plain_key(name) == key) return &value;
  return nullptr;
}

double number_of(const json* value, const char* name, const std::string& file) {
  if (value == nullptr || !value->is_number())
    FilePlace{file}.fail(
        "there is no number {}; a calibration of RealSense needs fx, fy, ppx, ppy and baseline", name);
  return value->get<double>();
}

/// Intrinsics of a camera: an object with focal lengths and a principal point.
bool is_camera(const json& value) {
  return value.is_object() && member(value, {"fx", "focallength"}) != nullptr;
}

/// The first camera in a member whose key has one of some words and not those of another camera.
const json* find_camera(const json& document, std::initializer_list<const char*> words) {
  const json* found = nullptr;
  visit_members(document, [&](const std::string& key, const json& value) {
    if (!holds(key, words) || !value.is_object()) return false;
    if (is_camera(value))
      found = &value;
    else
      visit_members(value, [&](const std::string&, const json& inner) {
        if (is_camera(inner)) found = &inner;
        return found != nullptr;
      });
    return found != nullptr;
  });
  return found;
}

Pinhole camera_of(const json& from, const std::string& file) {
  const auto pair = [&](std::initializer_list<const char*> x, std::initializer_list<const char*> y,
                        const char* both, const char* name) {
    const json* const list = member(from, {both});
    if (list != nullptr && list->is_array() && list->size() == 2)
      return Vec2d{number_of(&list->at(0), name, file), number_of(&list->at(1), name, file)};
    return Vec2d{number_of(member(from, x), name, file), number_of(member(from, y), name, file)};
  };
  const Vec2d focal = pair({"fx"}, {"fy"}, "focallength", "fx or fy"),
              centre = pair({"ppx", "cx"}, {"ppy", "cy"}, "principalpoint", "ppx or ppy");
  if (!(focal.x > 0 && focal.y > 0))
    FilePlace{file}.fail("fx and fy are {} and {}; they have to be positive", plain(focal.x), plain(focal.y));
  if (const json* coefficients = member(from, {"coeffs", "coefficients", "distortioncoeffs"}))
    if (coefficients->is_array() && std::ranges::any_of(*coefficients, [](const json& k) { return k != 0; }))
      FilePlace{file}.fail(
          "the camera has the distortion {}; rectified streams (infrared, Y8) have none, and matching "
          "needs them",
          in_quotes(coefficients->dump(-1, ' ', false, json::error_handler_t::replace)));
  Pinhole camera{0, 0, focal.x, focal.y, centre.x, centre.y};
  const json *width = member(from, {"width"}), *height = member(from, {"height"});
  if (width != nullptr && height != nullptr)
    set_size(camera, number_of(width, "width", file), number_of(height, "height", file), {file});
  return camera;
}

/// The distance of the cameras in metres, and how it was read where that is not plain.
struct Baseline {
  double metres = 0;
  std::string note = {};
};

/// A member "baseline"; above 1, or with "mm" in its key, in millimetres, as RS2_OPTION_STEREO_BASELINE is.
std::optional<Baseline> given_baseline(const json& document) {
  std::optional<Baseline> found;
  visit_members(document, [&](const std::string& key, const json& value) {
    if (!holds(key, {"baseline"}) || !value.is_number()) return false;
    const double number = std::abs(value.get<double>());
    const bool millimetres = key.ends_with("mm") || (number > 1 && !key.ends_with("m"));
    found = {millimetres ? number / 1000 : number,
             millimetres ? fmt::format("the baseline {} is taken for millimetres", plain(number)) : ""};
    return true;
  });
  return found;
}

/// The translation of extrinsics between the infrared cameras, in metres.
std::optional<Baseline> baseline_of_extrinsics(const json& document) {
  std::optional<Baseline> found;
  visit_members(document, [&](const std::string& key, const json& value) {
    if (!holds(key, {"extrinsic", "right", "infra2", "infrared2", "ir2"}) ||
        holds(key, {"color", "rgb", "imu", "gyro", "accel"}))
      return false;
    const json* const list = value.is_object() ? member(value, {"translation", "t"}) : nullptr;
    if (list == nullptr || !list->is_array() || list->size() != 3 || !list->front().is_number()) return false;
    found = {std::abs(list->front().get<double>())};
    return true;
  });
  return found;
}

/// All numbers of a value: a matrix of cv::FileStorage, a list, a list of rows, or one number.
void add_numbers(const json& value, Numbers& numbers) {
  if (value.is_number()) numbers.push_back(value.get<double>());
  if (value.is_object() && value.contains("data")) add_numbers(value.at("data"), numbers);
  if (value.is_array())
    for (const json& element : value) add_numbers(element, numbers);
}

PairCalibration realsense_calibration(const json& document, const std::string& file) {
  const json* left = find_camera(document, {"left", "infra1", "infrared1", "ir1"});
  if (left == nullptr) left = find_camera(document, {"depth", "infra"});
  if (left == nullptr && is_camera(document)) left = &document;
  if (left == nullptr) left = find_camera(document, {"intrinsic"});
  if (left == nullptr)
    FilePlace{file}.fail(
        "there is no camera with fx, fy, ppx and ppy (RealSense), nor P1 and P2 (cv::stereoRectify)");
  const auto baseline =
      given_baseline(document) ? given_baseline(document) : baseline_of_extrinsics(document);
  if (!baseline) number_of(nullptr, "baseline", file);
  if (!(baseline->metres > 0 && std::isfinite(baseline->metres)))
    FilePlace{file}.fail("the baseline is {}; it has to be positive", plain(baseline->metres));
  PairCalibration calibration;
  calibration.camera = {camera_of(*left, file), baseline->metres, 0};
  calibration.unit = LengthUnit::kMetre;
  calibration.format = "RealSense";
  calibration.note = baseline->note;
  if (const json* const right = find_camera(document, {"right", "infra2", "infrared2", "ir2"})) {
    const Pinhole &a = calibration.camera.left, b = camera_of(*right, file);
    if (std::abs(a.fx - b.fx) > 1e-6 * a.fx || std::abs(a.fy - b.fy) > 1e-6 * a.fy ||
        std::abs(a.cy - b.cy) > 0.01)
      FilePlace{file}.fail(
          "the right camera differs from the left one in more than ppx; the pair is not rectified");
    calibration.camera.offset = b.cx - a.cx;
  }
  return calibration;
}

}  // namespace

PairCalibration parse_json_calibration(std::string_view bytes, const std::string& file) {
  const json document = parse_json(bytes, file);
  if (!document.is_object()) FilePlace{file}.fail("the calibration is no object in braces");
  OpencvValues values;
  for (const char* key : kOpencvKeys)
    if (document.contains(key)) add_numbers(document.at(key), values[key]);
  if (values.contains("P1") || values.contains("Q")) return opencv_calibration(values, file);
  return realsense_calibration(document, file);
}

}  // namespace recon
