#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/options/options.hpp"
#include "session/resume/output_lock.hpp"
#include "session/resume/owned_files.hpp"

namespace recon {

/// Depth maps before and after the check across views.
enum class MapKind { kPhotometric, kGeometric };

/// The steps that leave a record: those of views, of a scene, and of a pair; kRun has what a run writes
/// beside their results, such as reports.
enum class Step { kPrepare, kEstimate, kPlanes, kCheck, kFusion, kTiles, kExport, kPair, kRun };

/// Those of a scene, in their order.
inline constexpr Step kSceneSteps[] = {Step::kPrepare, Step::kEstimate, Step::kPlanes, Step::kCheck,
                                       Step::kFusion,  Step::kTiles,    Step::kExport};

/// Whether each view has a result of a step; else all of them have one together.
constexpr bool is_of_views(Step step) {
  return step == Step::kPrepare || step == Step::kEstimate || step == Step::kCheck;
}

/// How messages, reports and predictions call a step.
const char* step_name(Step step);

/// The output folder, laid out as COLMAP's dense workspace. The names it hands out are relative to `root()`;
/// those of views were checked when the model was read, and stay inside.
class Workspace {
 public:
  explicit Workspace(std::filesystem::path root)
      : root_(std::move(root)), owned_(std::make_shared<OwnedFiles>(root_)) {}

  /// Longest name of a view without its folder, in bytes: file systems have names of 255, and the longest
  /// one made from it is that of its depth map.
  static constexpr std::size_t kMaxNameBytes = 255 - std::string_view(".photometric.bin").size();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path path(const std::string& file) const { return root_ / file; }
  /// Those that runs wrote, once the folder is taken; copies of a workspace share them.
  OwnedFiles& owned() const { return *owned_; }

  static std::string image_file(const std::string& view) { return "images/" + view; }
  static std::string mask_file(const std::string& view) { return "masks/" + view + ".png"; }
  static std::string depth_file(const std::string& view, MapKind kind);
  static std::string normal_file(const std::string& view, MapKind kind);
  static std::string confidence_file(const std::string& view, MapKind kind);
  /// Which pixels of a view planes of the scene fill.
  static std::string plane_file(const std::string& view) { return "stereo/plane_maps/" + view + ".png"; }
  static std::string prior_file(const std::string& view) {
    return "stereo/plane_maps/" + view + ".prior.bin";
  }
  static std::string preview_file(const std::string& view) { return "previews/" + view + ".png"; }
  static std::string confidence_preview_file(const std::string& view) {
    return "previews/" + view + ".confidence.png";
  }
  /// @param view  empty for a step of a scene or a pair; of kRun the name of some files, see RunFiles
  static std::string record_file(Step step, const std::string& view = {});
  static std::string cloud_file() { return "fused.ply"; }
  static std::string visibility_file() { return "fused.ply.vis"; }
  static std::string offset_file() { return "fused.offset.txt"; }
  /// Without its ending; a shard has one of its own.
  static std::string report_name(const Shard& shard);
  static std::string options_file() { return "options.toml"; }
  static std::string tiles_folder() { return "tiles"; }
  static std::string export_folder() { return "splat"; }
  /// The only link among the results, and where it leads.
  static std::string export_link() { return export_folder() + "/images"; }
  static constexpr const char* kExportedImages = "../images";

  /// Tries to write a file in the folder.
  /// @throws OutputError with the reason
  void check_writable() const;

  /// Removes temporary files that a killed run left behind.
  /// @param exclusive  no other process writes into the folder; else files younger than an hour stay
  void remove_leftovers(bool exclusive) const;

  /// Gives a file that somebody has changed a name that nothing has, such as fused.changed.ply.
  /// @param why  such as "has been changed since it was written", which is said without it
  /// @returns a text that names both; empty where another process has kept it
  /// @throws OutputError
  static std::string keep_changed(const std::filesystem::path& file, const char* why);
  static std::string keep_changed(const std::filesystem::path& file);

  /// Of the bytes that the results will take at most, those that are not in the folder yet; kept copies of
  /// changed files do not count.
  std::uint64_t bytes_left(std::uint64_t bytes) const;

  /// @param bytes  that the results will take at most; what is in the folder already counts towards them. The
  /// folder need not be there yet
  /// @throws OutputError when the file system has less free
  void check_free_space(std::uint64_t bytes) const;

 private:
  std::filesystem::path root_;
  std::shared_ptr<OwnedFiles> owned_;
};

/// Files that a run writes beside the results of steps, which have a record in common.
struct RunFiles {
  std::string name;  ///< of the record
  std::vector<std::string> files;
};
RunFiles options_files();
/// The model in `sparse/` and the lists of views in `stereo/`.
RunFiles model_files();
/// The reports for programs and for people; the log only grows.
RunFiles report_files(const Shard& shard);

/// The file of a run's report, or of its shard, such as report.json.
std::filesystem::path report_file(const Workspace& workspace, const Shard& shard, const char* extension);

/// Sets aside the reports of an earlier run, which do not hold for a run that fails or is interrupted.
void set_reports_aside(const Workspace& workspace, const Shard& shard);

/// Gives the page that was set aside its name again where the cloud that it shows is still there: a file that
/// is newer than the page is another cloud. The report for programs stays aside.
/// @returns  whether the page is there again
bool bring_page_back(const Workspace& workspace, const Shard& shard) noexcept;

/// Where a report of an earlier run is meanwhile.
std::filesystem::path set_aside(const std::filesystem::path& report);

/// A folder, or the nearest one above it that is there.
std::filesystem::path existing_folder(const std::filesystem::path& folder);

/// @param folder  that need not be there yet; of several inputs that of one of them
/// @param bytes   that are still to be written there
/// @throws OutputError when the file system has less free
void check_free_space(const std::filesystem::path& folder, std::uint64_t bytes, std::size_t inputs = 1);

/// Removes a result of an earlier run, so that it does not pass for one of this run.
/// @throws OutputError
void remove_result(const std::filesystem::path& path);

/// What the results in an output folder are of.
enum class OutputKind { kScene, kPair };

/// How a run takes its output folder.
struct OutputAccess {
  OutputKind kind = OutputKind::kScene;
  bool overwrite =
      false;          ///< also a folder that holds files of others, which stay, or results of the other kind
  bool wait = false;  ///< until another process is done with the folder
  std::string shared_key;           ///< as OutputLock has it
  std::vector<std::string> files;   ///< that the run will write
  std::vector<std::string> inputs;  ///< folder or images that the results are of, as resolved paths
};

/// An output folder while this process may write into it. Of a run that ends before it marks the folder
/// nothing is left there.
struct TakenOutput {
  Workspace workspace;
  std::unique_ptr<OutputLock> lock;
  bool has_results = false;                 ///< of an earlier run, and of the same kind
  std::vector<std::filesystem::path> made;  ///< folders that the lock made, the inner ones first

  explicit TakenOutput(Workspace output) : workspace(std::move(output)) {}
  TakenOutput(TakenOutput&&) = default;
  ~TakenOutput();

  /// After the last file of a run: its list of files has what is there.
  /// @throws OutputError
  void finish() const;
};

/// Locks an output folder, creates it where missing, and removes the temporary files of killed runs. Without
/// `overwrite` the folder has to be new, empty, or to hold results of the same kind.
/// @throws UsageError that says what the folder holds, or who is writing there
/// @throws OutputError, Interrupted
TakenOutput take_output(const Workspace& workspace, const OutputAccess& access);

/// What take_output and mark_output would refuse, without a change of the folder; locks are not looked at.
/// @throws UsageError; OutputError where the folder cannot be written
void check_output(const Workspace& workspace, const OutputAccess& access);

/// Whether a folder holds results of this program.
bool is_output(const std::filesystem::path& folder);

/// Marks a taken folder as one of ours; call it before the first result is written or removed.
/// @param files  that the run will write
/// @throws UsageError where one of them is somebody else's, see OwnedFiles; OutputError
/// @param inputs  as OutputAccess has them
void mark_output(const Workspace& workspace, OutputKind kind, std::vector<std::string> files = {},
                 const std::vector<std::string>& inputs = {});

/// The inputs that a folder is marked with, see OutputAccess::inputs; none where the mark does not say it.
std::vector<std::string> marked_inputs(const Workspace& workspace);

/// Whether the results in a folder are marked as those of other inputs than a run's, as far as marks say it,
/// and the run is not to overwrite them.
bool is_of_others(const Workspace& workspace, const OutputAccess& access);

}  // namespace recon
