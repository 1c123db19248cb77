#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "session/options/inputs.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/plan/step_clock.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/result_store.hpp"
#include "session/scene/given_maps.hpp"
#include "session/scene/plan_memory.hpp"
#include "session/scene/stores.hpp"

namespace recon {

/// The state of one scene's work, handed from step to step.
struct SceneRun {
  SceneRun(const SessionOptions& session_options, SceneFolder scene_folder, Workspace output,
           int thread_count);

  const SessionOptions& options;
  const Job job;
  const SceneFolder folder;
  const Workspace workspace;
  const int threads;
  Scene scene;                            ///< as it was read, without what masks ignore
  std::vector<SparsePoint> photo_points;  ///< see points_of_photos; their tracks are of `scene`
  ScenePlan plan;
  MemoryPlan memory;
  StepTimes predicted_steps;  ///< of all their work, for the progress of each; empty: unknown
  std::map<std::string, std::string> photo_hashes;  ///< of the photos that could be read, by view name
  std::vector<LeftOut> failed;  ///< views whose work failed, beside those that the plan leaves out
  std::vector<std::string> warnings;
  std::mutex warnings_mutex;
  std::optional<bool> photos_fit;       ///< cameras and poses, see check_photos_fit; empty: not known
  std::set<std::string> doubted_views;  ///< names of those that a warning says to be wrong
  std::map<std::string, std::string> photo_doubts;  ///< what corners say against photos, by name
  GivenMaps given;                                  ///< by --depth-maps
  PhotoStore photos;
  ResultStore results;
  MapStore maps;

  ResultKey key(Step step, int view) const { return {step, plan.view(view).output_name}; }

  /// The result of a step of a view; null where it has none.
  const StepRecord* result(Step step, int view) const { return results.get(key(step, view)); }

  /// Whether a step is among what the run is to do: --stage, --tile, --export-points.
  bool does(Step step) const;

  /// The views that a step of the run is for, by --views and --shard; of fusion those that it fuses.
  std::vector<int> views_of(Step step) const;

  /// Thread-safe.
  void warn(const std::string& text);

  /// The predicted seconds of a step for some of its views; 0 where they are unknown.
  double predicted(std::string_view step, int views, int of_all) const;

  /// Whether every view that should have come out did.
  bool complete() const { return plan.left_out.empty() && failed.empty(); }
};

/// Reads the model and the masks and makes the plan; views whose photo is not there, or whose mask cannot be
/// used, are left out.
/// @throws InputError, OutOfMemory
void read_scene(SceneRun& run);

/// Points by which a scene without sparse points chooses its sources: corners of the photos of all views,
/// also of those that the run leaves to others, matched and triangulated. Few are wrong, and they are no
/// result.
/// @throws Interrupted
std::vector<SparsePoint> points_of_photos(SceneRun& run);

/// Warns of files that are damaged and used all the same; many become one warning.
void warn_of_damage(SceneRun& run, const std::vector<LeftOut>& files);

/// Makes the plan of the views that are not left out, nor have too long a name, by the points of photos where
/// there are no others.
/// @throws InputError with the file of the model
void make_plan(SceneRun& run, std::vector<LeftOut> left_out);

/// Scales the cameras whose photos are the model's in another size: all photos of the camera that can be read
/// have one size of the camera's shape. Their observations are scaled too, and a warning says so.
/// @param left_out  views whose photos do not count
void fit_cameras(SceneRun& run, const std::vector<LeftOut>& left_out);

/// Finds photos that are not where the model names them, but have its name without its first folders, or lie
/// deeper under its name, where only one photo and one view go together; a warning says so.
void find_moved_photos(SceneRun& run);

/// Why a photo may have another size than its camera, and what to do.
/// @param content  of the photo's file
std::string advice_on_size(std::string_view content, ImageSize photo, const Camera& camera);

/// " (there is NAME)" of a photo that is not there, where its folder has one of nearly the same name, also in
/// another encoding, or the scene has it at the name's place; else empty.
std::string similar_photo(const SceneFolder& folder, const std::filesystem::path& file,
                          const std::string& name);

/// The mask of a view that has one, in the pixels of its photo: 0 where it is ignored.
/// @throws InputError when the file cannot be read or has another size than the photo
Image<std::uint8_t> read_mask(const View& view, const Camera& camera);

/// The mask of a view of the plan from that of its photo.
Image<std::uint8_t> undistorted_mask(const SceneRun& run, int view, ImageView<const std::uint8_t> mask);

/// Reads the masks of all views of `run.scene`, of the folder masks/ or as the model names them: notes their
/// hashes, and removes observations of ignored pixels from the tracks of their points. A point that loses all
/// of them is removed.
/// @returns the views whose mask cannot be used
/// @throws Interrupted
std::vector<LeftOut> read_masks(SceneRun& run);

/// Reads the photos that may have 16-bit values or transparent pixels: what is black and white in 16-bit
/// photos is set for all of them together, and transparent pixels are the mask of a view that has none yet.
/// @param left_out  views whose photos do not count
/// @throws Interrupted
void inspect_photos(SceneRun& run, const std::vector<LeftOut>& left_out);

/// The pixels of a view whose depths count: the mask that `prepare_views` wrote, and of a face its side of
/// the cube. Empty for a whole photo without a mask.
/// @throws InputError when it cannot be read
Image<std::uint8_t> prepared_mask(const SceneRun& run, int view);

/// Max bytes of prepared_mask for each pixel.
std::size_t prepared_mask_bytes(const ScenePlan& plan);

/// Reads the photos of all views that are needed and writes nothing; a photo that cannot be used is left out
/// and the plan is made again without it.
/// @throws InputError when too little is left, Interrupted
void check_photos(SceneRun& run);

/// Undistorts the photos of all views that are needed and writes dense/images and dense/masks; a photo that
/// cannot be used is left out and the plan is made again without it.
/// @throws InputError when too little is left, OutputError, Interrupted
void prepare_views(SceneRun& run);

/// Writes the model of the undistorted images, patch-match.cfg and fusion.cfg.
void write_dense_model(const SceneRun& run);

/// Takes the depth maps that are there, where the run makes none; views without are added to `failed`.
/// Nothing is written.
/// @throws InputError when there is none, or some are of other photos, poses or options than this run's
void collect_estimates(SceneRun& run);

/// @throws UsageError for a --tile that is far too small for the sparse points or less than a pixel is wide,
/// before anything is computed
void check_tile_size(const SceneRun& run);

/// Removes the tiles of the cloud of an earlier run.
/// @throws OutputError
void remove_tiles(const SceneRun& run);

/// Divides the finished cloud into tiles of --tile scene units; finished tiles of the same cloud are kept,
/// all others are removed.
/// @throws UsageError when there would be too many, OutputError, Interrupted
void tile_cloud(SceneRun& run);

/// What --export-points writes, beside its record.
std::vector<std::string> exported_files();

/// Removes the model of the points of an earlier run.
/// @throws OutputError
void remove_exported_points(const SceneRun& run);

/// Writes the model of --export-points with points of the finished cloud; a finished one of the same cloud is
/// kept.
/// @throws OutOfMemory, OutputError, Interrupted
void export_points(SceneRun& run);

/// The index of each view of the plan in the model that `write_dense_model` writes; -1 where it is not in it.
std::vector<int> dense_indices(const ScenePlan& plan);

/// Says how much of a step is kept and how much is done (again), and why.
/// @param views  all of the step
void log_kept(const SceneRun& run, Step step, const std::vector<int>& views);

}  // namespace recon
