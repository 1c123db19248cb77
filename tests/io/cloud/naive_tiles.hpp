#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "io/temporary_folder.hpp"

namespace recon {

/// A file of PlyWriter, taken apart without the library: it has 20 bytes a point behind x, y and z.
struct NaiveCloud {
  explicit NaiveCloud(const std::filesystem::path& file) {
    const std::string bytes = slurp(file), end = "end_header\n";
    is_double = bytes.find("property double x\n") != std::string::npos;
    const std::size_t size = (is_double ? 24 : 12) + 20, body = bytes.find(end) + end.size();
    const std::string count = "\nelement vertex " + std::to_string((bytes.size() - body) / size) + "\n";
    EXPECT_NE(bytes.find(count), std::string::npos) << file << ": a wrong count";
    EXPECT_EQ((bytes.size() - body) % size, 0u) << file;
    for (std::size_t at = body; at < bytes.size(); at += size) points.push_back(bytes.substr(at, size));
    properties = bytes.substr(bytes.find("property"), body - bytes.find("property"));
    const std::size_t comment = bytes.find("\ncomment offset ");
    if (comment < body) std::istringstream(bytes.substr(comment + 16)) >> offset[0] >> offset[1] >> offset[2];
  }

  /// With the offset that the header names.
  double coordinate(const std::string& point, int index) const {
    if (is_double) {
      double value = 0;
      std::memcpy(&value, point.data() + 8 * index, 8);
      return offset[index] + value;
    }
    float value = 0;
    std::memcpy(&value, point.data() + 4 * index, 4);
    return offset[index] + static_cast<double>(value);
  }

  bool is_double = false;
  std::vector<std::string> points;
  std::array<double, 3> offset{};
  std::string properties;  ///< the header from the first one on
};

/// "m1.5_6.ply" is the tile whose corner is at -1.5, 6: -3, 12 of half a unit.
inline std::pair<int, int> tile_indices(const std::string& name, double size) {
  const auto number = [&](const std::string& text) {
    const double corner = text.front() == 'm' ? -std::stod(text.substr(1)) : std::stod(text);
    const auto index = static_cast<int>(std::lround(corner / size));
    EXPECT_EQ(corner, std::stod(std::to_string(index * size))) << name;
    return index;
  };
  return {number(name), number(name.substr(name.find('_') + 1))};
}

/// Every point of the cloud is in the tile of its coordinates, and there in the order of the cloud.
inline void expect_divided(const std::filesystem::path& cloud, const std::filesystem::path& tiles,
                           double size) {
  const NaiveCloud whole(cloud);
  std::map<std::pair<int, int>, std::vector<std::string>> expected;
  for (const std::string& point : whole.points)
    expected[{static_cast<int>(std::floor(whole.coordinate(point, 0) / size)),
              static_cast<int>(std::floor(whole.coordinate(point, 1) / size))}]
        .push_back(point);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tiles)) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const NaiveCloud tile(entry.path());
    const auto [x, y] = tile_indices(name, size);
    for (const std::string& point : tile.points) {
      EXPECT_TRUE(x * size <= tile.coordinate(point, 0) && tile.coordinate(point, 0) < (x + 1) * size);
      EXPECT_TRUE(y * size <= tile.coordinate(point, 1) && tile.coordinate(point, 1) < (y + 1) * size);
    }
    EXPECT_EQ(tile.properties, whole.properties);
    EXPECT_EQ(tile.offset, whole.offset);
    EXPECT_TRUE(tile.points == (expected[{x, y}])) << tile.points.size() << " points";
    ++files;
  }
  EXPECT_EQ(files, expected.size());
}

}  // namespace recon
