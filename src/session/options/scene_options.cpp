// Source views, planes, filters and fusion.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plain_number.hpp"
#include "match/posed_image.hpp"
#include "optimize/winner/winner_take_all.hpp"
#include "session/options/option.hpp"

namespace recon {

using namespace jobs;

namespace {

/// --planes: auto, or a number.
void set_planes(SessionOptions& options, const std::string& text) {
  options.planes = to_number<int>(text);
  if (text != "auto" && (options.planes.value_or(0) < 2 || *options.planes > kMaxPlanes))
    throw UsageError("it must be auto, or a number from 2 to " + std::to_string(kMaxPlanes));
}

/// The numbers of a list with commas; none when it is no such list of finite numbers.
std::vector<double> parse_list(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : split_list(text)) {
    const auto number = to_number<double>(part);
    if (!number || !std::isfinite(*number)) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// --roi: six numbers are a box of a scene, four the region of a pair.
void set_roi(SessionOptions& options, const std::string& text) {
  const std::vector<double> n = parse_list(text);
  const auto is_pixels = [](double value) { return value >= 0 && value < 1e9 && value == std::floor(value); };
  if (n.size() == 6) {
    options.cloud.roi = SceneBox{{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
    for (std::size_t i = 0; i < 3; ++i)
      if (!(n[i] < n[i + 3]))
        throw UsageError(
            fmt::format("write MINX,MINY,MINZ,MAXX,MAXY,MAXZ: min {0} {1} is not below max {0} {2}", "xyz"[i],
                        plain(n[i]), plain(n[i + 3])));
    return;
  }
  if (n.size() == 4 && std::ranges::all_of(n, is_pixels) && n[2] > 0 && n[3] > 0) {
    const auto pixels = [&](std::size_t i) { return static_cast<int>(n[i]); };
    visit_spec(options, kBm, [&](MethodSpec& spec) {
      spec.block.region = {pixels(0), pixels(1), pixels(2), pixels(3)};
    });
    return;
  }
  throw UsageError(
      "write MINX,MINY,MINZ,MAXX,MAXY,MAXZ in scene units for a scene, such as -1,-1,0,1,1,2.5, and "
      "X,Y,WIDTH,HEIGHT in pixels of the left image for a pair, such as 0,0,640,480");
}

/// --offset: auto, or three numbers.
void set_offset(SessionOptions& options, const std::string& text) {
  const std::vector<double> n = parse_list(text);
  if (text != "auto" && n.size() != 3)
    throw UsageError("write auto, or X,Y,Z in scene units, such as 412000,5651000,0");
  options.cloud.offset = text == "auto" ? CloudOffset{true} : CloudOffset{false, {n[0], n[1], n[2]}};
}

std::string given_offset(const CloudOffset& offset) {
  return offset.automatic ? "auto" : offset_text(offset.value);
}

Option offset_option() {
  return Option(
             "offset", "auto|X,Y,Z",
             "Subtract X,Y,Z from the coordinates of the cloud, its tiles and what is exported for splats, "
             "for programs that work in floats, such as MeshLab; fused.offset.txt and the PLY files say it. "
             "auto: round numbers near the cameras where floats would blur the points, else 0")
      .add({kScenes, [](const auto& o, Job) { return given_offset(o.cloud.offset); }, set_offset})
      .described("0,0,0")
      .in(OptionResult::kCloudFile);
}

Option roi_option() {
  return Option("roi", "NUMBERS",
                "Scenes: the cloud keeps the points in the box MINX,MINY,MINZ,MAXX,MAXY,MAXZ, scene units. "
                "Pairs with bm: the pixels of the left image to match, X,Y,WIDTH,HEIGHT")
      .add({kScenes, [](const auto& o, Job) { return format_box(o.cloud.roi); }, set_roi})
      .described("all")
      .add({kBm & kPairs,
            [](const auto& o, Job) { return format_region(o.spec(Method::kBlockMatching).block.region); },
            [](SessionOptions&, const std::string&) {}})  // set for both at once
      .in(OptionResult::kCloud);
}

}  // namespace

OptionGroup view_options() {
  constexpr Range kDepth = {1e-30, 1e29};
  const char* estimated = "where a coarse search of each view finds surfaces";
  OptionGroup group("Views and planes");
  group.add("sources", "N", "Max number of source views per reference view")
      .number(kScenes, RECON_FIELD(selection.max_sources), {1, kMaxSources})
      .described("by --quality: 8, " + plain(kDefaultPatchSources) + " or " + plain(kMaxSources) +
                 " with patches, else 8, " + plain(ViewSelectionOptions{}.max_sources) +
                 " or 20; from 1 to " + plain(kMaxSources))
      .in(OptionResult::kPlan);
  group.add("min-angle", "DEGREES", "Min angle under which two views see a surface")
      .number(kScenes, RECON_FIELD(selection.min_angle_degrees), {0, 180})
      .in(OptionResult::kPlan);
  group.add("max-angle", "DEGREES", "Max angle under which two views see a surface")
      .number(kScenes, RECON_FIELD(selection.max_angle_degrees), {0, 180})
      .in(OptionResult::kPlan);
  group
      .add("max-image-size", "PX",
           "Longest side of the images, which are reduced to it, pixels. 0: by --quality; normal reduces "
           "larger photos to " +
               plain(kNormalImageSide) +
               " (not with --depth-maps), draft to half of what normal does, high none")
      .number(kScenes, RECON_FIELD(max_image_size), {0, kMaxImageSide})
      .in(OptionResult::kPlan);
  group
      .add("planes", "N|auto",
           "Number of planes; auto: neighbouring planes at most a pixel apart in every source, but no more "
           "than " +
               std::to_string(kMaxAutoPlanes))
      .add({kSweep & kScenes, [](const auto& o, Job) { return o.planes ? plain(*o.planes) : "auto"; },
            set_planes});
  group.add("depth-min", "Z", "Min depth, scene units")
      .number(kScenes, RECON_FIELD(depth_min), kDepth)
      .described(estimated)
      .in(OptionResult::kPlan);
  group.add("depth-max", "Z", "Max depth, scene units")
      .number(kScenes, RECON_FIELD(depth_max), kDepth)
      .described(estimated)
      .in(OptionResult::kPlan);
  return group;
}

namespace {

constexpr const char* kPatchesOnly = "has a meaning with --refine patches only";

/// "0.6 with patches, else 0.6 with zncc, ...".
std::string trusted_costs() {
  std::string text = plain(kDefaultMaxPatchCost) + " with patches, else ";
  for (const SweptCost& cost : kSweptCosts)
    text += fmt::format("{}{} {}with {}", &cost == kSweptCosts ? "" : ", ", plain(cost.levels.trusted),
                        cost.unit[0] != '\0' ? cost.unit + std::string(" ") : "", cost.keyword);
  return text;
}

void add_filters(OptionGroup& group) {
  const SessionOptions defaults;
  group.add("max-cost", "COST", "Max cost of a trusted depth")
      .number(kSweep & kScenes, RECON_FIELD(max_cost), {0, 255})
      .described(trusted_costs())
      .meaning([](const auto& o, Job) { return plain(o.resolved_filter().max_cost); });
  group
      .add("min-confidence", "SHARE",
           "Min confidence: with patches the probability that a depth is right within 1 %, else how unique "
           "the best plane is")
      .number(kSweep & kScenes, RECON_FIELD(min_confidence), {0, 1})
      .described(plain(kDefaultMinReliability) + " with patches, else " +
                 plain(defaults.filter.min_confidence))
      .meaning([](const auto& o, Job job) {
        return plain(o.swept_by_patches(job) ? o.min_reliability() : o.resolved_filter().min_confidence);
      })
      .in(OptionResult::kDepthMaps, OptionResult::kCheck);
  group
      .add("min-lone-confidence", "SHARE",
           "Min confidence of a depth where no other view has one; 0.9: those of planes of the scene; 1: "
           "none is kept. --min-views above 1 keeps none, --min-fused-views above 2 none in the cloud")
      .number(kSweep & kScenes, RECON_FIELD(min_lone_confidence), {0, 1})
      .meaning([](const auto& o, Job job) { return plain(o.check_consistency(job).min_lone_confidence); })
      .only_where(kSweep, has_patches, kPatchesOnly)
      .in(OptionResult::kAgreement);
  group
      .add("min-texture", "LEVELS",
           "Min contrast of a window, grey levels: planesweep the standard deviation, bm the mean gradient")
      .number(kSweep, RECON_FIELD(min_texture), {0, 255})
      .described("0 with patches, else " + plain(defaults.filter.min_texture))
      .meaning([](const auto& o, Job) { return plain(o.resolved_filter().min_texture); })
      .number(kBm, RECON_SPEC(block.min_texture), {0, 255});
  group.add("speckle", "N", "Patches of fewer pixels are dropped; 0: keep all")
      .number(kScenes, RECON_FIELD(filter.speckle_size), {0, 1e9})
      .described("scenes: " + plain(defaults.filter.speckle_size) + "; pairs: " +
                 plain(defaults.min_patch(Method::kSemiGlobal)) + ", but 0 for pipelines that interpolate")
      .add({kPairs, [](const auto& o, Job job) { return plain(o.min_patch(job.method)); },
            [](SessionOptions& o, const std::string& size) { o.pair.speckle = parse_integer(size); },
            Range{0, 1e9}})
      .in(OptionResult::kDepthMaps, OptionResult::kCheck);
}

void add_fusion(OptionGroup& group) {
  const SessionOptions defaults;
  group.add("min-views", "N", "Number of source views that have to agree on a depth")
      .number(kScenes, RECON_FIELD(consistency.min_views), {1, kMaxSources})
      .in(OptionResult::kAgreement);
  group.add("max-depth-error", "SHARE", "Max relative depth difference of views that agree")
      .number(kScenes, RECON_FIELD(consistency.max_relative_depth), {1e-6, 1})
      .in(OptionResult::kAgreement);
  group.add("max-normal-angle", "DEGREES", "Max angle between the normals of views that agree")
      .number(kScenes, RECON_FIELD(max_normal_angle), {0, 180})
      .described("planesweep: " + plain(kDefaultMaxPatchAngle) +
                 " with patches, more where normals are noisy; else " +
                 plain(defaults.consistency.max_angle_degrees))
      .meaning([](const auto& o, Job job) {
        const ConsistencyOptions check = o.check_consistency(job);
        return plain(check.max_angle_degrees) + (check.angle_follows_noise ? " or by noise" : "");
      })
      .in(OptionResult::kAgreement);
  group
      .add("max-hole", "PX",
           "Holes in a surface are filled where known pixels on both sides are at most this many rows or "
           "columns away; 0: no hole is filled")
      .number(kSweep & kScenes, RECON_FIELD(max_hole), {0, 32})
      .only_where(kSweep, has_patches, kPatchesOnly)
      .in(OptionResult::kCheck);
  group
      .add("scene-planes", "N",
           "Planes of the scene, at most, that are found in the depths of all views; areas without texture "
           "that lie on one are filled, and so is a ground that is seen at a grazing angle; the sky is left "
           "empty; 0: none of it")
      .number(kSweep & kScenes, RECON_FIELD(scene_planes), {0, kMaxScenePlanes})
      .only_where(kSweep, has_patches, kPatchesOnly)
      .in(OptionResult::kPlanes);
  group
      .add("prior-maps", "DIR",
           "Depths of a network or a sensor for areas where the photos say nothing, of some or all views, in "
           "files named as those of --depth-maps, of the photos or their undistorted images, in any "
           "resolution and of any scale; confidences beside them (NAME.confidence.*, NAME_confidence.*, or "
           "NAME.* in a folder confidence beside DIR), from 0 to 1 or ARKit's levels, say what counts; a "
           "prior "
           "that does not follow the depths of its view is not used",
           OptionScope::kPlace)
      .text(kSweep & kScenes, RECON_FIELD(prior.folder))
      .only_where(kSweep, has_patches, kPatchesOnly)
      .described("none");
  group
      .add(
          "prior-kind", "NAME",
          "What the values of --prior-maps follow up to a scale and a shift: depth (along the optical axis), "
          "inverse (1 / depth, disparity), distance (from the camera); auto: depth or inverse, what fits "
          "better. 0 is unknown")
      .keyword(kSweep & kScenes, RECON_FIELD(prior.kind), prior_kinds())
      .only_where(kSweep, has_patches, kPatchesOnly)
      .in(OptionResult::kPlanes);
  group
      .add("min-fused-views", "N",
           "Min number of views of a point of the cloud, where several views have a depth")
      .number(kScenes, RECON_FIELD(cloud.min_views), {1, 1 << 20})
      .in(OptionResult::kCloud);
  group
      .add("point-spacing", "PX",
           "Distance of the points that a view gives to the cloud, pixels; 1 for the densest cloud")
      .number(kScenes, RECON_FIELD(cloud.spacing), {1, 8})
      .in(OptionResult::kCloud);
  group.add(roi_option());
  group.add(offset_option());
  group
      .add("tile", "SIZE",
           "Write the cloud once more, divided by a grid over x and y into files below tiles/, named by "
           "their corners: the side of a tile in scene units, such as metres; 0: no tiles. A later run "
           "without it removes them")
      .number(kScenes, RECON_FIELD(cloud.tile), {0, 1e9})
      .in(OptionResult::kTiles);
  group
      .add("export-points", "N",
           "Write splat/, a COLMAP model of the undistorted images with at most N points of the cloud, with "
           "colours and tracks, from which Gaussian splatting and nerfstudio begin; the points are evenly "
           "spread in space around the views, and beyond them coarser with distance, as the views see it; 0: "
           "no model. A later run without it removes that model")
      .number(kScenes, RECON_FIELD(cloud.export_points), {0, 1e9})
      .in(OptionResult::kExport);
  group
      .add("export-priors", "FORMAT",
           "Write depths, and what else the program reads, of the checked views to splat/, which guide the "
           "training of splats: 3dgs (inverse depths for gaussian-splatting), nerfstudio (depths and "
           "transforms.json), lichtfeld (depths and normals for LichtFeld Studio), npy (depths, normals and "
           "confidences as arrays of NumPy); none. A later run without it removes them")
      .keyword(kScenes, RECON_FIELD(cloud.export_priors), prior_formats())
      .in(OptionResult::kExport);
  group
      .add("export-filled", "",
           "Fill the holes of what --export-priors writes smoothly from the depths around them, with a "
           "confidence of 0; for trainers that take a hole for something infinitely far")
      .flag(kScenes, RECON_FIELD(cloud.export_filled))
      .in(OptionResult::kExport);
}

}  // namespace

const std::map<std::string, PriorKind>& prior_kinds() {
  static const std::map<std::string, PriorKind> kinds = {{"auto", PriorKind::kAuto},
                                                         {"depth", PriorKind::kDepth},
                                                         {"inverse", PriorKind::kInverse},
                                                         {"distance", PriorKind::kDistance}};
  return kinds;
}

const std::map<std::string, PriorFormat>& prior_formats() {
  static const std::map<std::string, PriorFormat> formats = {{"none", PriorFormat::kNone},
                                                             {"3dgs", PriorFormat::k3dgs},
                                                             {"nerfstudio", PriorFormat::kNerfstudio},
                                                             {"lichtfeld", PriorFormat::kLichtfeld},
                                                             {"npy", PriorFormat::kNpy}};
  return formats;
}

OptionGroup filter_options() {
  OptionGroup group("Filters and fusion");
  add_filters(group);
  add_fusion(group);
  return group;
}

}  // namespace recon
