#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../io/model/colmap_in_memory.hpp"

namespace recon {

/// The files of a model from one input: images follow the line "@images", points the line "@points"; rigs and
/// frames, if there are some, stand before the images behind "@rigs" and "@frames".
inline ColmapFiles model_input(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kImages = "@images\n", kPoints = "@points\n", kRigs = "@rigs\n",
                             kFrames = "@frames\n";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_until = [&](std::string_view mark) {
    const std::size_t end = rest.find(mark);
    const std::string part(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + mark.size());
    return part;
  };
  ColmapFiles files;
  if (rest.find(kRigs) < rest.find(kFrames) && rest.find(kFrames) < rest.find(kImages)) {
    files.cameras = {"cameras", take_until(kRigs)};
    files.rigs = ColmapFile{"rigs", take_until(kFrames)};
    files.frames = ColmapFile{"frames", take_until(kImages)};
  } else {
    files.cameras = {"cameras", take_until(kImages)};
  }
  const bool has_points = rest.find(kPoints) != std::string_view::npos;
  files.images = {"images", take_until(kPoints)};
  if (has_points) files.points = ColmapFile{"points", std::string(rest)};
  return files;
}

/// Reads a model; one that is accepted has to be accepted again after writing, and to be the same then.
inline void check_model(const ColmapFiles& files, ColmapFormat format) {
  Scene scene;
  try {
    scene = parse_colmap_model(files, format);
  } catch (const InputError&) {
    return;
  }
  for (const ColmapFormat written : {ColmapFormat::kText, ColmapFormat::kBinary}) {
    ColmapFiles once;
    try {
      once = format_colmap_model(scene, written);
    } catch (const InputError&) {
      continue;  // a name that text cannot hold
    }
    const Scene again = parse_colmap_model(once, written);
    if (again.cameras.size() != scene.cameras.size() || again.views.size() != scene.views.size() ||
        again.points.size() != scene.points.size())
      __builtin_trap();
  }
}

}  // namespace recon
