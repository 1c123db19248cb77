#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "core/image.hpp"

namespace recon {

/// The number of depths in each bin that is not empty.
using DepthHistogram = std::map<int, std::uint64_t>;

/// The bin of a positive depth, eight to the power of two, and where one begins.
int depth_bin(double depth);
double depth_bin_begin(int bin);

/// Counts the known depths of a map.
DepthHistogram depth_histogram(ImageView<const float> depth);

/// The depth below which a share of the depths lies, exact up to the width of a bin. @param histogram  not
/// empty
double depth_quantile(const DepthHistogram& histogram, double share);

/// As an object of bins and counts.
nlohmann::json histogram_json(const DepthHistogram& histogram);

/// And back; what no depth map has, as of a damaged file, is left out.
DepthHistogram parse_histogram(const nlohmann::json& object);

}  // namespace recon
