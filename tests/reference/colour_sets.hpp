#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "io/image/image_file.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/stereo_sets.hpp"

namespace recon {

/// A colour set with the masks of the Middlebury evaluation of 2007: pixels of value 255 are evaluated.
struct ColourSet {
  StereoSet grey;
  Image<Rgb8> left, right;
  Image<std::uint8_t> nonocc, all, disc;  ///< empty if the set has none
};

inline ColourSet read_colour_set(const std::filesystem::path& folder) {
  std::ifstream file(folder / "info.json");
  const nlohmann::json info = nlohmann::json::parse(file);
  const auto path = [&](const char* key) { return folder / info.at(key).get<std::string>(); };
  ColourSet set{read_stereo_set(folder), read_image(path("left")), read_image(path("right")), {}, {}, {}};
  for (const auto& [key, mask] : {std::pair{"nonocc_mask", &set.nonocc}, std::pair{"all_mask", &set.all},
                                  std::pair{"disc_mask", &set.disc}})
    if (info.contains(key) && info.at(key).is_string()) *mask = read_grey_image(path(key));
  return set;
}

/// A pipeline on a pair.
inline PairProblem pipeline_problem(const GreyPair& grey, const ColourPair& colour, DisparityRange range,
                                    const MethodSpec& pipeline) {
  return {grey, {pipeline, range}, colour};
}

/// A pipeline on a set, which has to outlive the problem.
inline PairProblem pipeline_problem(const ColourSet& set, const MethodSpec& pipeline) {
  return pipeline_problem({set.grey.left.view(), set.grey.right.view(), {}, {}},
                          {set.left.view(), set.right.view()}, {0, set.grey.disparities}, pipeline);
}

}  // namespace recon
