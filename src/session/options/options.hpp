#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuse/consistency.hpp"
#include "fuse/fusion.hpp"
#include "fuse/holes.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "methods/method_spec.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "scene/view_selection.hpp"

namespace recon {

/// The pipelines of stages that `--method` names.
enum class Method { kPlaneSweep, kSemiGlobal, kBeliefPropagation, kBlockMatching, kPipeline };

inline constexpr std::array<Method, 5> kMethods = {Method::kPlaneSweep, Method::kSemiGlobal,
                                                   Method::kBeliefPropagation, Method::kBlockMatching,
                                                   Method::kPipeline};

/// planesweep, sgm, bp, bm or pipeline.
std::string method_keyword(Method method);

/// What is to be done with one input.
struct Job {
  Method method = Method::kPlaneSweep;
  bool pair = false;  ///< the input is a rectified pair, not a scene
};

/// A method as it is where no option is given.
MethodSpec default_method(Method method);

/// The depth maps of --depth-maps.
struct GivenMapsOptions {
  std::filesystem::path folder;  ///< inside the scene or anywhere; empty: none are given
  std::optional<double> unit;    ///< scene units of one unit of them; nothing: 1, of floats
};

/// What the values of a prior follow.
enum class PriorKind {
  kAuto,      ///< depth or inverse depth, what fits better
  kDepth,     ///< along the optical axis
  kInverse,   ///< 1 / depth
  kDistance,  ///< from the camera
};

/// The kinds by their keywords.
const std::map<std::string, PriorKind>& prior_kinds();

/// The depths of --prior-maps.
struct PriorOptions {
  std::filesystem::path folder;  ///< as GivenMapsOptions
  PriorKind kind = PriorKind::kAuto;
};

/// What is searched in rectified pairs, and what is done with the result.
struct PairSettings {
  std::optional<int> min_disparity;  ///< nothing: 0
  std::optional<int> max_disparity;  ///< behind the last one; nothing: from the calibration
  std::optional<int> speckle;        ///< patches of fewer pixels are dropped; nothing: by the method
  bool fill = false;                 ///< a value for every pixel
  std::filesystem::path calibration =
      {};  ///< in the folder of a pair or anywhere; empty: what is beside its images
  /// Units of the calibration that a step of depth.png is; 0: a millimetre; nothing: there is none.
  std::optional<double> depth_png = {};
};

/// What the options mean for a rectified pair.
struct PairJob {
  Method method = Method::kSemiGlobal;
  MethodSpec spec;
  PairSettings settings;
  int min_patch = 0;  ///< the least patch of the result that stays, pixels
};

/// Views that a point of the cloud needs.
inline constexpr int kDefaultMinFusedViews = 2;

/// What is subtracted from the coordinates of the cloud.
struct CloudOffset {
  bool automatic = false;  ///< chosen by the scene
  Vec3d value{0, 0, 0};    ///< else this
};

/// A box in the coordinates of a scene.
struct SceneBox {
  Vec3d min{0, 0, 0}, max{0, 0, 0};

  /// Whether a point is inside, or on the surface.
  bool contains(Vec3d p) const {
    return p.x >= min.x && p.y >= min.y && p.z >= min.z && p.x <= max.x && p.y <= max.y && p.z <= max.z;
  }
};

/// The programs for which --export-priors writes depths and normals.
enum class PriorFormat { kNone, k3dgs, kNerfstudio, kLichtfeld, kNpy };

/// The formats by their keywords.
const std::map<std::string, PriorFormat>& prior_formats();

/// What becomes of the checked depths.
struct CloudSettings {
  int min_views = kDefaultMinFusedViews;  ///< of a point where several views have a depth
  int spacing = FusionOptions{}.spacing;  ///< pixels between the points of a view
  std::optional<SceneBox> roi;            ///< that the points lie in; nothing: anywhere
  CloudOffset offset;                     ///< of the coordinates in the files of the cloud
  double tile = 0;                        ///< side of the tiles, scene units; 0: none
  int export_points = 0;                  ///< of the model for splats, at most; 0: no model
  PriorFormat export_priors = PriorFormat::kNone;
  bool export_filled = false;  ///< no holes in the depths of export_priors

  /// Whether there is something to export.
  bool exports() const { return export_points > 0 || export_priors != PriorFormat::kNone; }
};

/// Which part of the work to do.
enum class Stage {
  kAll,
  kEstimate,  ///< up to the depth maps before the check across views
  kFuse,      ///< from the depth maps that are there
};

/// Part `index` of `count`, counted from 1.
struct Shard {
  int index = 1;
  int count = 1;
};

/// The part of the work that a process does: what a scheduler of a cluster chooses.
struct WorkPart {
  std::string views = "*";  ///< reference views: a shell pattern over their names
  Shard shard;
  Stage stage = Stage::kAll;
};

/// What --quality means where the user gives no sources and no size of the images.
enum class Quality {
  kDraft,   ///< images of half the size, 8 sources, one iteration of patches
  kNormal,  ///< images of at most kNormalImageSide, 20 sources with patches, else 12; two iterations
  kHigh,    ///< 32 sources with patches, else 20; four iterations
};

/// How messages and progress are written.
enum class ProgressFormat {
  kText,  ///< for people
  kJson,  ///< one object a line, see set_json_messages
};

/// The least trusted cost of patches where the user gives none; of planes see SweptCostLevels.
inline constexpr float kDefaultMaxPatchCost = 0.8f;

/// Source views of patches, which choose the best for each pixel, where the user gives no number.
inline constexpr int kDefaultPatchSources = 20;

/// The least reliability of a depth from patches; see reliability.
inline constexpr float kDefaultMinReliability = 0.35f;
/// The same where no other view has a depth: those of planes are kept. Matches have at most 0.84, and most of
/// them are wrong on photos.
inline constexpr float kDefaultMinLoneReliability = 0.9f;
/// Max angle between normals from patches that agree, degrees.
inline constexpr float kDefaultMaxPatchAngle = 30.0f;

/// Most planes that `auto` takes. More gain nothing (tests/bench/results/sweep-options.md).
inline constexpr int kMaxAutoPlanes = 256;

/// Most threads that can be asked for.
inline constexpr int kMaxThreads = 4096;

/// The text of an option that was given, and where: "FILE:LINE: " of a configuration, empty for the command
/// line.
struct GivenOption {
  std::string text;
  std::string place = {};
};

/// By name, such as "window".
using GivenOptions = std::map<std::string, GivenOption>;

/// Where the value of an option has an effect.
enum class OptionScope {
  kResults,      ///< in the results
  kPlace,        ///< in where results are computed, from which files, and for which views
  kPart,         ///< in the part of the work that a process does, and where it is written
  kCommandLine,  ///< in this run; not allowed in a configuration file
};

/// The results that the value of an option of OptionScope::kResults has an effect on, directly.
enum class OptionResult {
  kDepthMaps,  ///< the depth maps of views before the check across views, or the result of a pair
  kPlanes,     ///< which areas planes of the scene fill, and so the maps after the check
  kCheck,      ///< the maps after the check
  kAgreement,  ///< both these and the cloud
  kCloud,
  kCloudFile,  ///< how files have the points, or the depths of a pair: not what is returned in memory
  kTiles,
  kExport,
  kPlan,  ///< other options, or the sources, cameras and searched depths of views
};

struct Option;

/// The options that have an effect on results, by their names, with the texts that give them.
struct RecordedOptions {
  using Values = std::map<std::string, std::string>;

  /// Those of some results.
  Values of(std::initializer_list<OptionResult> results) const;

  std::map<OptionResult, Values> by_result;
};

/// The longest side of the images of a run of normal quality, pixels. What photos show beyond it gains
/// nothing for windows of a few pixels, and their blur and noise mislead them, see
/// tests/bench/results/scenes.md.
constexpr int kNormalImageSide = 1600;

/// All options of a run of `reconstruct`, with their defaults.
struct SessionOptions : WorkPart {
  /// Scenes, folders of rectified pairs, folders of such folders; or the two images of one pair.
  std::vector<std::filesystem::path> inputs;
  GivenOptions given;  ///< the options that are set below

  std::filesystem::path output;  ///< empty: `dense` inside each folder, or here for a pair of images
  std::filesystem::path images;  ///< of scenes, inside each or anywhere; empty: images/ in the scene
  GivenMapsOptions given_maps;
  PriorOptions prior;
  std::string device = "auto";  ///< auto, cpu, cuda or cuda:0,2

  std::optional<Method> method;  ///< nothing: see method_of
  std::string preset;            ///< of a pipeline; empty: none
  /// That of scenes, with its options. A sweep refines patches by default, where no option names planes or
  /// other stages.
  Method own_method = Method::kPlaneSweep;
  MethodSpec own_spec = default_method(Method::kPlaneSweep);
  PairSettings pair;
  bool colour = false;  ///< match red, green and blue instead of grey (SAD only)
  PhotometricFilterOptions filter;
  std::optional<float> max_cost;                           ///< nothing: by the kind of cost
  std::optional<float> min_confidence;                     ///< nothing: by whether patches are refined
  float min_lone_confidence = kDefaultMinLoneReliability;  ///< of patches, see ConsistencyOptions
  int scene_planes = ScenePlaneOptions{}.max_planes;       ///< see find_scene_planes; of patches
  int max_hole = HoleOptions{}.reach;                      ///< pixels, see HoleOptions::reach; of patches
  std::optional<float> min_texture;                        ///< nothing: by whether patches are refined
  ConsistencyOptions consistency;                          ///< of all depths; see check_consistency
  std::optional<float> max_normal_angle;  ///< degrees; nothing: by whether patches are refined
  CloudSettings cloud;

  std::optional<int> planes;                   ///< empty: by the spacing of the planes in the images
  std::optional<double> depth_min, depth_max;  ///< exact bounds of all depths, scene units
  ViewSelectionOptions selection;
  int max_image_size = 0;  ///< longest side of the images, pixels; 0: by the quality
  Quality quality = Quality::kNormal;

  std::optional<std::size_t> memory_limit, gpu_memory_limit;  ///< bytes
  int threads = 0;                                            ///< 0: all that the process may use
  bool dry_run = false;
  bool overwrite = false;
  bool clean = false;  ///< removes what only resuming needs from a finished scene
  bool wait = false;   ///< until another process is done with the output folder
  ProgressFormat progress = ProgressFormat::kText;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  std::string commit;  ///< of the program, for reports; empty: unknown

  /// The method for a scene or a pair: where none was given, a pipeline for a preset, and for pairs also
  /// where stages are given that the other methods do not have.
  Method method_of(bool is_pair) const;
  Job job(bool is_pair) const { return {method_of(is_pair), is_pair}; }

  /// A method with its options: the own one, or another as `given` has it, such as for the pairs of a session
  /// of scenes.
  MethodSpec spec(Method of) const;
  MethodSpec sweep() const { return spec(Method::kPlaneSweep); }
  /// Makes a method the own one. @return to be changed
  MethodSpec& use(Method of);

  /// The least patch of a pair's result that stays: a pipeline that fills what is wrong leaves no holes.
  int min_patch(Method of) const {
    return pair.speckle.value_or(of == Method::kPipeline && spec(of).refine.interpolate ? 0 : 60);
  }

  /// Whether a scene's depth maps are made, and whether they are checked and fused.
  bool estimates() const { return stage != Stage::kFuse; }
  bool fuses() const { return stage != Stage::kEstimate; }

  /// Whether a scene or a pair is matched in colour.
  bool in_colour(Job job) const { return job.method == Method::kPipeline || (!job.pair && colour); }

  /// @param jobs  of all inputs, at least one
  /// @throws UsageError that names the option, its value and what it may be; for an option that no job uses,
  /// or that changes nothing for any job that uses it
  void check(const std::vector<Job>& jobs) const;

  /// Whether a job refines slanted patches.
  bool swept_by_patches(Job job) const { return has_patches(spec(job.method)); }

  /// The photometric filter with the limits that are meant where the user gave none. Depths from patches are
  /// judged by their reliability, after the check across views.
  PhotometricFilterOptions resolved_filter() const;
  /// The criteria of the check across views, and of fusion. Only patches have a reliability by which depths
  /// that no other view has can be judged.
  ConsistencyOptions check_consistency(Job job) const;
  ConsistencyOptions fusion_consistency(Job job) const;
  float min_reliability() const { return min_confidence.value_or(kDefaultMinReliability); }

  /// The options of up to a scope that a job uses and that have an effect, as TOML that `--config` reads.
  std::string resolved(Job job, OptionScope scope = OptionScope::kPlace) const;
  /// The same one by one, with their values as texts.
  std::vector<std::pair<const Option*, std::string>> resolved_values(
      Job job, OptionScope scope = OptionScope::kPlace) const;
  RecordedOptions recorded(Job job) const;

  PairJob pair_job() const;

 private:
  void check_refinement(Job job) const;
  void check_roi(Job job) const;
  void check_together(Job job) const;
  void check_job(Job job) const;
  void check_effect(const Option& option, const std::vector<Job>& jobs) const;
};

/// The options of a run. They apply in the order of option_groups, so that a preset comes before the stages
/// that replace those of it, and the stages before penalties, whose defaults depend on them. An option that
/// is not given has its default, which may depend on the method or the preset.
/// @param given  the command line, and what a configuration adds to it
/// @throws UsageError that names the option, its value and what it may be
SessionOptions parse_options(const GivenOptions& given);

/// A message that begins with an option, such as "--window is 8", with file and line before it where a
/// configuration set the option.
std::string with_place(const std::string& message, const GivenOptions& given);

}  // namespace recon
