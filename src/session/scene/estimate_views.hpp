#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.hpp"
#include "methods/backend.hpp"
#include "session/graph/task.hpp"
#include "session/scene/stores.hpp"

namespace recon {

class ViewChecks;
struct SceneRun;

/// The active views whose depth maps are neither finished nor unchanged, in the order in which fusion needs
/// them. The states of the others have what is kept.
std::vector<int> views_to_estimate(SceneRun& run);

/// Takes the depth maps that are there; views without are added to `failed`. The photos have to be known.
/// @throws InputError when there is none, or some are of other photos, poses or options than this run's
void collect_estimates(SceneRun& run);

/// The estimation of views on devices, each of which takes as many at once as it has slots.
class ViewEstimation {
 public:
  /// @param checks  those of the maps, which then stay in memory; null: there are none
  ViewEstimation(SceneRun& run, const Backends& backends, const ViewChecks* checks);

  /// Views that the devices take at once. Thread-safe.
  std::size_t slots() const;

  /// Shows the progress of this many views.
  void begin(int views);

  /// Estimates a view on a device with a free slot. A view that cannot be estimated is added to `failed`; one
  /// whose device fails is left to the others. Thread-safe.
  /// @throws DeviceError, OutOfMemory when the last device fails; Interrupted
  TaskEnd estimate(int view);

  /// Writes the maps of an estimated view. Thread-safe. @throws OutputError
  void write(int view);

 private:
  using Channels = std::vector<std::shared_ptr<const PhotoStore::Channels>>;

  /// What a slot takes of a device. A backend admits as many calls as it has streams; spare slots filter
  /// their views meanwhile.
  struct Device {
    Backend& backend;
    int free = 0;
    bool failed = false;
  };
  struct Result {
    std::shared_ptr<const ViewDepth> maps;
    nlohmann::json record;
  };

  int slots_of(const Device& device) const;
  Device* take_device();
  void estimate_on(Backend& backend, int view);
  TaskEnd give_up(Device& device, const Error& error);
  TaskEnd fail(int view, const std::string& reason);
  Image<Vec3f> normals(Backend& backend, int view, ImageView<const float> depth) const;
  Channels channels_of(int view);
  ViewDepth sweep(Backend& backend, int view);
  void narrow(Backend& backend, int view, SweepProblem& problem) const;
  ViewDepth match_pairs(Backend& backend, int view);

  SceneRun& run_;
  const ViewChecks* const checks_;
  mutable std::mutex mutex_;  ///< of the devices and of what the run has failed to do
  std::deque<Device> devices_;
  std::vector<Result> results_;  ///< by view, until they are written
  std::optional<Progress> progress_;
};

}  // namespace recon
