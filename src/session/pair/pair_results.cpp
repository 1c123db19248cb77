#include "session/pair/pair_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "io/map/map_files.hpp"
#include "refine/normals.hpp"

namespace recon {

namespace {

struct PairFile {
  const char* name;
  std::uint64_t pixel_bytes;  ///< at most: PNG files are hardly larger than their pixels
  bool (*is_wanted)(const PairPlan&);
};

bool always(const PairPlan&) {
  return true;
}
bool with_depth(const PairPlan& plan) {
  return plan.camera.has_value();
}

/// The cloud is seen by two views.
constexpr PairFile kFiles[] = {
    {pair_file::kDisparity, 4, always},
    {pair_file::kDisparityPng, 3, always},
    {pair_file::kPreview, 4, always},
    {pair_file::kPhoto, 3, always},
    {pair_file::kFilled, 2, [](const PairPlan& plan) { return plan.job.settings.fill; }},
    {pair_file::kDepth, 4, with_depth},
    {pair_file::kDepthPng, 2, [](const PairPlan& plan) { return plan.depth_step > 0; }},
    {pair_file::kCloud, PlyWriter::vertex_bytes(PlyPosition::kFloat), with_depth},
    {pair_file::kVisibility, 3 * PlyWriter::kListedBytes, with_depth}};

}  // namespace

std::vector<std::string> pair_files() {
  std::vector<std::string> files = {Workspace::record_file(Step::kPair)};
  for (const PairFile& file : kFiles) files.emplace_back(file.name);
  return files;
}

PairOutput pair_output(const PairPlan& plan) {
  constexpr std::uint64_t kReports = std::uint64_t{64} << 10;
  PairOutput output{{Workspace::record_file(Step::kPair)}, kReports};
  for (const PairFile& file : kFiles)
    if (file.is_wanted(plan)) {
      output.files.emplace_back(file.name);
      output.bytes += file.pixel_bytes * element_count({plan.size.width, plan.size.height});
    }
  for (const RunFiles& of_run : {options_files(), report_files({})}) {
    output.files.push_back(Workspace::record_file(Step::kRun, of_run.name));
    output.files.insert(output.files.end(), of_run.files.begin(), of_run.files.end());
  }
  return output;
}

Image<std::uint16_t> disparity_in_16_bits(ImageView<const float> disparity) {
  Image<std::uint16_t> out(disparity.width, disparity.height, 0);
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      const float d = disparity(x, y);
      if (!(d >= 0)) continue;
      const float value = std::round(256 * d);
      if (value < 65536) out(x, y) = static_cast<std::uint16_t>(std::max(value, 1.0f));
    }
  });
  return out;
}

Image<float> depth_of_disparity(ImageView<const float> disparity, const StereoCamera& camera) {
  Image<float> depth(disparity.width, disparity.height);
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      const double z = camera.depth(disparity(x, y));
      const auto rounded = static_cast<float>(z);
      depth(x, y) = z > 0 && std::isfinite(rounded) ? rounded : kUnknown;
    }
  });
  return depth;
}

SteppedDepth depth_in_16_bits(ImageView<const float> depth, double step) {
  EXPECTS(step > 0);
  SteppedDepth result{Image<std::uint16_t>(depth.width, depth.height, 0)};
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x) {
      if (std::isnan(depth(x, y))) continue;
      const double value = std::round(static_cast<double>(depth(x, y)) / step);
      if (value < 65536)
        result.steps(x, y) = static_cast<std::uint16_t>(std::max(value, 1.0));
      else
        ++result.too_large;
    }
  return result;
}

PairCloud write_pair_cloud(const Workspace& workspace, ImageView<const float> depth,
                           ImageView<const Rgb8> colour, ImageView<const std::uint8_t> skip,
                           const Pinhole& camera) {
  EXPECTS(depth.width == colour.width && depth.height == colour.height);
  const Image<Vec3f> normals = normals_from_depth(depth, camera);
  constexpr std::array<std::uint32_t, 2> kBothViews = {0, 1};
  PlyWriter ply(workspace.path(pair_file::kCloud));
  for (int y = 0; y < depth.height; ++y) {
    check_interrupted();
    for (int x = 0; x < depth.width; ++x) {
      if (std::isnan(depth(x, y)) || std::isnan(normals(x, y).x) || (!skip.empty() && skip(x, y) != 0))
        continue;
      const double z = depth(x, y);
      const Vec3d ray = camera.ray(pixel_centre(x, y));
      ply.add({{z * ray.x, z * ray.y, z}, normals(x, y), colour(x, y), 1.0f, kBothViews});
    }
  }
  if (ply.count() == 0) return {};
  return {ply.count(), ply.commit()};
}

}  // namespace recon
