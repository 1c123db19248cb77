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

SceneSettings::SceneSettings(const SessionOptions& options)
    : given(options.given_maps), prior(options.prior), cloud(options.cloud) {
  const Job job{options.method_of(false), false};
  const DepthRange bounds{options.depth_min.value_or(kAnyDepth.near),
                          options.depth_max.value_or(kAnyDepth.far)};
  // Given maps may be as large as the photos: their images are not reduced to what matching gains from.
  const bool reduced = options.quality != Quality::kHigh && given.folder.empty();
  const ImageSizes images{options.max_image_size, reduced ? kNormalImageSide : 0,
                          options.quality == Quality::kDraft};
  plan = {options.selection,   images,
          options.views,       options.given.contains("views"),
          options.shard,       !given.folder.empty(),
          options.estimates(), options.fuses()};
  matching = {job.method,     options.spec(job.method), options.in_colour(job),
              options.planes, options.filter,           bounds};
  if (matching.sweeps()) matching.filter = options.resolved_filter();
  const bool patches = options.swept_by_patches(job);
  check = {options.check_consistency(job),
           bounds,
           patches,
           options.min_reliability(),
           patches ? options.max_hole : 0,  // others have no reliability
           options.filter.speckle_size,
           patches ? options.scene_planes : 0,
           patches && !options.prior.folder.empty(),
           options.clean};
  agreement = options.fusion_consistency(job);
}

FusionOptions SceneSettings::fusion(std::size_t views) const {
  FusionOptions options;
  options.agreement = agreement;
  // A scene of few views cannot ask for more than it has.
  options.min_views = std::min(cloud.min_views, static_cast<int>(views));
  options.spacing = cloud.spacing;
  return options;
}

}  // namespace recon
