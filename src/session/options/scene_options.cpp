// Source views, planes, filters and fusion.

#include "match/posed_image.hpp"
#include "optimize/winner/winner_take_all.hpp"
#include "session/options/option.hpp"

namespace recon {

using namespace jobs;

namespace {

/// --planes: auto, or a number.
void set_planes(SessionOptions& options, const std::string& text) {
  options.planes = std::nullopt;
  if (text == "auto") return;
  try {
    options.planes = parse_integer(text);
  } catch (const UsageError&) {
  }
  if (options.planes.value_or(0) < 2 || *options.planes > kMaxPlanes)
    throw UsageError("it must be auto, or a number from 2 to " + std::to_string(kMaxPlanes));
}

}  // namespace

OptionGroup view_options() {
  constexpr Range kDepth = {1e-30, 1e29};
  const char* estimated = "from the sparse points or the cameras";
  OptionGroup group("Views and planes");
  group.add("sources", "N", "Max number of source views per reference view")
      .number(kScenes, RECON_FIELD(selection.max_sources), {1, kMaxSources});
  group.add("min-angle", "DEGREES", "Min angle under which two views see a surface")
      .number(kScenes, RECON_FIELD(selection.min_angle_degrees), {0, 180});
  group.add("max-angle", "DEGREES", "Max angle under which two views see a surface")
      .number(kScenes, RECON_FIELD(selection.max_angle_degrees), {0, 180});
  group
      .add("max-image-size", "PX",
           "Longest side of the images, which are reduced to it, pixels; 0: as the photos are")
      .number(kScenes, RECON_FIELD(max_image_size), {0, kMaxImageSide});
  group
      .add("planes", "N|auto",
           "Number of planes; auto: neighbouring planes at most a pixel apart in every source, but no more "
           "than " +
               std::to_string(kMaxAutoPlanes))
      .add({kSweep & kScenes,
            [](const SessionOptions& o, Job) { return o.planes ? decimal(*o.planes) : "auto"; }, set_planes});
  group.add("depth-min", "Z", "Min depth, scene units")
      .number(kScenes, RECON_FIELD(depth.near), kDepth)
      .described(estimated);
  group.add("depth-max", "Z", "Max depth, scene units")
      .number(kScenes, RECON_FIELD(depth.far), kDepth)
      .described(estimated);
  return group;
}

OptionGroup filter_options() {
  const SessionOptions defaults;
  OptionGroup group("Filters and fusion");
  group.add("max-cost", "COST", "Max cost of a trusted depth")
      .number(kSweep & kScenes, RECON_FIELD(max_cost), {0, 255})
      .described(decimal(kDefaultMaxZncc) + " with zncc, " + decimal(kDefaultMaxSad) +
                 " grey levels with sad");
  group.add("min-confidence", "SHARE", "Min uniqueness of the best plane")
      .number(kSweep & kScenes, RECON_FIELD(filter.min_confidence), {0, 1});
  group
      .add("min-texture", "LEVELS",
           "Min contrast of a window, grey levels: planesweep the standard deviation, bm the mean gradient")
      .number(kSweep, RECON_FIELD(filter.min_texture), {0, 255})
      .number(kBm, RECON_FIELD(pair.matching.block.min_texture), {0, 255});
  group.add("speckle", "N", "Patches of fewer pixels are dropped; 0: keep all")
      .number(kScenes, RECON_FIELD(filter.speckle_size), {0, 1e9})
      .described("scenes: " + decimal(defaults.filter.speckle_size) +
                 "; pairs: " + decimal(defaults.pair.min_patch(Method::kSemiGlobal)) +
                 ", but 0 for pipelines that interpolate")
      .integer(
          kPairs, [](const SessionOptions& o, Job job) { return o.pair.min_patch(job.method); },
          [](SessionOptions& o, int size) { o.pair.speckle = size; }, {0, 1e9});
  group.add("min-views", "N", "Number of source views that have to agree on a depth")
      .number(kScenes, RECON_FIELD(consistency.min_views), {1, kMaxSources});
  group.add("max-depth-error", "SHARE", "Max relative depth difference of views that agree")
      .number(kScenes, RECON_FIELD(consistency.max_relative_depth), {1e-6, 1});
  group.add("max-normal-angle", "DEGREES", "Max angle between the normals of views that agree")
      .number(kScenes, RECON_FIELD(consistency.max_angle_degrees), {0, 180});
  group.add("min-fused-views", "N", "Min number of views of a point of the cloud")
      .number(kScenes, RECON_FIELD(min_fused_views), {1, 1 << 20});
  group
      .add("point-spacing", "PX",
           "Distance of the points that a view gives to the cloud, pixels; 1 for the densest cloud")
      .number(kScenes, RECON_FIELD(point_spacing), {1, 8});
  return group;
}

}  // namespace recon
