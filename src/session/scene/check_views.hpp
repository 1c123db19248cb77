#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "fuse/agreement.hpp"
#include "methods/backend.hpp"
#include "session/graph/background_work.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

struct SceneRun;
struct ViewDepth;
struct WrittenFile;

/// The check of the depths of all estimated views in scope against their sources; writes what is left and its
/// previews. Where a GPU estimates and memory allows, a view is checked as soon as it and its sources are
/// estimated, with the processor time that the estimation leaves.
class ViewChecks {
 public:
  /// @param backends  count what the sources of a view say of it, in turn
  ViewChecks(SceneRun& run, const Backends& backends);

  /// Drops checks that have not begun, and waits for the rest.
  ~ViewChecks();

  ViewChecks(const ViewChecks&) = delete;
  ViewChecks& operator=(const ViewChecks&) = delete;

  /// Begins to check beside the estimation of `views`; all others are estimated already, or never.
  void begin_beside(const std::vector<int>& views);

  /// Identifies the maps of a view before the check within the process, see DepthSource.
  std::uint64_t map_id(int view) const { return first_id_ + static_cast<std::uint64_t>(view); }

  /// The estimation of one of these views has ended, with or without a result. Thread-safe.
  void estimated(int view);

  /// Waits until a view is checked and returns its maps, from the cache if they are there, so that the caller
  /// does not wait for the disk, else from the files; the cache forgets them. Null if the estimation or the
  /// check of the view failed, and after a `stop`. Thread-safe.
  /// @throws InputError when a file cannot be read
  std::shared_ptr<const ViewDepth> take(int view, const std::stop_token& stop);

  /// Ends the checks, and the estimation that they are beside, by the error of work that depends on them.
  /// Thread-safe.
  void fail(const std::exception_ptr& error);

  /// Whether a check, or work that depends on them, has failed: `finish` will throw. Thread-safe.
  bool failed() const { return first_.thrown(); }

  /// Checks what is left. The results are in the states of the views.
  /// @throws InputError, OutputError, OutOfMemory, Interrupted: the first of a check, or that of `fail`
  void finish();

 private:
  std::vector<int> needed_maps(std::size_t i) const;
  void add_ready(std::size_t i);
  void check_ready();
  void check(std::size_t i);
  bool begin_check(std::size_t i);
  void commit(std::size_t i, std::vector<WrittenFile>& files, StepRecord record);
  void end(std::size_t i);
  std::vector<WrittenFile> write_results(const std::string& name, const ViewDepth& maps,
                                         nlohmann::json& result) const;
  ViewDepth checked_maps(int view, const std::vector<int>& sources);
  std::shared_ptr<const ViewDepth> photometric(int view) const;
  DepthSource depth_source(int view) const;
  Image<Agreement> agreement(int view, const DepthSource& reference, const std::vector<DepthSource>& sources);
  Backend* backend_for(int view);
  void give_up(const Backend* backend, const Error& error);
  void release_maps(std::size_t i);

  SceneRun& run_;
  std::vector<Backend*> backends_;  ///< those that have not failed
  const std::uint64_t first_id_;    ///< of the maps of the views of the plan
  const std::vector<int> views_;
  std::vector<std::string> reasons_;                  ///< why those of `views_` were checked again
  std::vector<std::size_t> waits_for_;                ///< number of estimates that are still to come
  std::vector<std::vector<std::size_t>> dependents_;  ///< of each view those of `views_` that wait for it
  std::vector<std::atomic<int>> users_;  ///< of the maps of each view: the checks that are still to come
  FirstException first_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<bool> computed_;     ///< of `views_`: the checked maps have been offered to the cache
  std::vector<bool> ended_;        ///< of `views_`
  std::deque<std::size_t> ready_;  ///< to be checked beside the estimation
  int workers_ = 0;                ///< that check beside
  bool finishing_ = false;
  int checked_ = 0;
  std::optional<Progress> progress_;
  std::optional<oneapi::tbb::task_arena> arena_;  ///< of checks beside the estimation
  oneapi::tbb::task_group group_;
  BackgroundWork commits_;  ///< the last member: they end before what they use
};

}  // namespace recon
