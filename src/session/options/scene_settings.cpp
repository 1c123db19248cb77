#include "session/options/scene_settings.hpp"

#include <algorithm>

namespace recon {

int ImageSizes::max_side(int width, int height) const {
  constexpr int kMinSide = 16;
  if (longest_side > 0) return longest_side;
  const int photo = std::max(width, height), side = most > 0 ? std::min(photo, most) : photo;
  if (halved) return std::max((side + 1) / 2, kMinSide);
  return side < photo ? side : 0;
}

/// Given maps are of images as large as the photos.
static ImageSizes image_sizes(const SessionOptions& options) {
  const bool reduced = options.quality != Quality::kHigh && options.depth_maps.empty();
  return {options.max_image_size, reduced ? kNormalImageSide : 0, options.quality == Quality::kDraft};
}

SceneSettings::SceneSettings(const SessionOptions& options) {
  const Job job{options.method_of(false), false};
  const DepthRange bounds{options.depth_min.value_or(kAnyDepth.near),
                          options.depth_max.value_or(kAnyDepth.far)};
  given = {options.depth_maps, options.depth_unit};
  plan = {
      options.selection, image_sizes(options),        options.views,       options.given.contains("views"),
      options.shard,     !options.depth_maps.empty(), options.estimates(), options.fuses()};
  matching = {job.method,     options.spec(job.method), options.in_colour(job),
              options.planes, options.filter,           bounds};
  if (matching.sweeps()) matching.filter = options.resolved_filter();
  check = {options.check_consistency(job), bounds,
           options.swept_by_patches(job),  options.min_reliability(),
           options.hole_reach(job),        options.filter.speckle_size,
           options.max_scene_planes(job),  options.clean};
  cloud = {options.fusion_consistency(job),
           options.min_fused_views,
           options.point_spacing,
           options.roi,
           options.offset,
           options.tile,
           options.export_points};
}

}  // namespace recon
