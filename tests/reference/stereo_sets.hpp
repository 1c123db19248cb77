#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "methods/stereo/pair.hpp"

namespace recon {

/// A rectified pair with ground truth.
struct StereoSet {
  std::string name;
  Image<std::uint8_t> left, right;
  Image<Rgb8> left_colour;
  Image<float> truth;  ///< pixels; NaN: unknown
  int disparities;
};

inline StereoSet read_stereo_set(const std::filesystem::path& folder) {
  std::ifstream file(folder / "info.json");
  const nlohmann::json info = nlohmann::json::parse(file);
  const auto path = [&](const char* key) { return folder / info.at(key).get<std::string>(); };
  StereoSet set{info.at("name"),
                read_grey_image(path("left")),
                read_grey_image(path("right")),
                read_image(path("left")),
                {},
                info.at("max_disparity")};
  if (path("disparity").extension() == ".pfm") {
    set.truth = read_pfm(path("disparity"));
    return set;
  }
  const Image<std::uint8_t> levels = read_grey_image(path("disparity"));
  const float scale = info.at("gt_scale");
  const bool has_unknown = !info.at("unknown").is_null();
  set.truth = Image<float>(levels.width(), levels.height());
  for (int y = 0; y < levels.height(); ++y)
    for (int x = 0; x < levels.width(); ++x)
      set.truth(x, y) = has_unknown && levels(x, y) == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                         : static_cast<float>(levels(x, y)) / scale;
  return set;
}

/// All sets below a folder, by name.
inline std::vector<StereoSet> read_stereo_sets(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "info.json")) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<StereoSet> sets;
  for (const auto& path : paths) sets.push_back(read_stereo_set(path));
  return sets;
}

}  // namespace recon
