#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.hpp"
#include "fuse/agreement.hpp"
#include "methods/backend.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/stores.hpp"

namespace recon {

struct SceneRun;

/// The check of the depths of estimated views against their sources; writes what is left and its previews.
class ViewChecks {
 public:
  /// @param backends  count what the sources of a view say of it, in turn
  ViewChecks(SceneRun& run, const Backends& backends);

  /// Identifies the maps of a view before the check within the process, see DepthSource.
  std::uint64_t map_id(int view) const { return first_id_ + static_cast<std::uint64_t>(view); }

  /// Shows the progress of all views from now on.
  void show_progress();

  /// Checks a view, unless it is checked already. Its maps are then in memory if the budget allows, its files
  /// complete but for `commit`. Thread-safe.
  /// @throws InputError, OutputError, OutOfMemory, Interrupted
  void check(int view);

  /// Gives the files of a checked view their names, and sets its state. Thread-safe. @throws OutputError
  void commit(int view);

  /// Frees the maps of a view before the check, which no other check needs, and with --clean removes their
  /// files. Thread-safe. @throws OutputError
  void release(int view);

  /// Says what was kept when all views are checked.
  void log_kept() const;

 private:
  /// Of a view between `check` and `commit`.
  struct Result {
    std::vector<WrittenFile> files;
    StepRecord record;
  };

  std::vector<WrittenFile> write_results(const std::string& name, const ViewDepth& maps,
                                         nlohmann::json& result) const;
  ViewDepth checked_maps(int view, const std::vector<int>& sources);
  std::shared_ptr<const ViewDepth> photometric(int view) const;
  DepthSource depth_source(int view) const;
  Image<Agreement> agreement(int view, const DepthSource& reference, const std::vector<DepthSource>& sources);
  Backend* backend_for(int view);
  void give_up(const Backend* backend, const Error& error);
  int estimates() const;

  SceneRun& run_;
  const std::uint64_t first_id_;                ///< of the maps of the views of the plan
  std::vector<std::string> reasons_;            ///< by view: why it was checked again
  std::vector<std::optional<Result>> results_;  ///< by view
  std::mutex mutex_;                            ///< of all that follows
  std::vector<Backend*> backends_;              ///< those that have not failed
  int checked_ = 0;
  std::optional<Progress> progress_;
};

}  // namespace recon
