#pragma once

#include <cstddef>
#include <exception>
#include <future>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/log.hpp"
#include "core/program.hpp"
#include "methods/backend.hpp"
#include "session/options/inputs.hpp"
#include "session/options/options.hpp"

namespace recon {

/// The GPUs of "cuda:0,2", each once, rising; none for "auto", "cpu" and "cuda".
/// @throws UsageError for another text
std::vector<int> parse_device(const std::string& device);

/// What will do the work: the indices of GPUs, or none for the CPU.
struct DeviceChoice {
  std::vector<int> gpus;
  std::string reason;  ///< for people: what was chosen, and why
};

/// What `--device` means on this machine.
/// @throws UsageError as parse_device
/// @throws DeviceUnavailable when a GPU is asked for that is not there, with the reason
DeviceChoice choose_devices(const std::string& device);

/// Opens what was chosen.
/// @param threads      of the CPU
/// @param host_memory  bytes for the sweeps of the CPU
/// @param gpu_memory   bytes; empty: most of what is free
/// @throws DeviceUnavailable
Backends make_backends(const DeviceChoice& choice, int threads, std::size_t host_memory,
                       std::optional<std::size_t> gpu_memory);

/// What reports call the devices.
std::string names_of(const Backends& backends);

/// The devices, and how long it took to open them, seconds.
struct OpenDevices {
  Backends backends;
  double seconds = 0;
};

/// Says once what does the work: as soon as it is known, but not before an input has passed all checks, so
/// that wrong usage is said alone. Thread-safe.
class DeviceNotice {
 public:
  explicit DeviceNotice(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

  void know(const std::string& reason);
  void permit();

 private:
  void say();

  const std::shared_ptr<spdlog::logger> log_;
  std::mutex mutex_;
  std::string reason_;  ///< empty: unknown
  bool permitted_ = false, said_ = false;
};

/// Inputs that are worked on side by side, each with a share of threads and memory, and others that have all.
struct Turns {
  int at_once = 1;
  int threads = 1;
  std::size_t memory = 0;  ///< bytes
  std::shared_mutex side_by_side{};
};

/// The turn of one input, from its construction on. Where only one is worked on at once it is alone.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) {
    if (turns.at_once > 1)
      beside_ = std::shared_lock(turns.side_by_side);
    else
      alone_ = std::unique_lock(turns.side_by_side);
  }

  bool alone() const { return alone_.owns_lock(); }

  /// What the input may take.
  int threads() const { return alone() ? turns_.threads : turns_.threads / turns_.at_once; }
  /// Bytes of the host.
  std::size_t memory() const {
    return alone() ? turns_.memory : turns_.memory / static_cast<std::size_t>(turns_.at_once);
  }

  /// Waits for those that are side by side, unless it is alone already.
  void take_alone() {
    if (alone()) return;
    beside_.unlock();
    alone_ = std::unique_lock(turns_.side_by_side);
  }

 private:
  Turns& turns_;
  std::shared_lock<std::shared_mutex> beside_;
  std::unique_lock<std::shared_mutex> alone_;
};

class Turn;

/// Does what the options ask for, scene by scene. A scene that fails is reported, and the others are still
/// done.
/// @param out    for the result: a short summary, the plan, or with `json` one object
/// @param error  set where the exit code says that there are no results: what ended it, or the first scene
/// @returns the exit code: 0, or the worst of the scenes (7: some views failed)
/// @throws UsageError, InputError (no such scene), DeviceUnavailable: nothing was begun; Interrupted
int run_session(const SessionOptions& options, std::ostream& out, std::exception_ptr* error = nullptr);

/// What a session that fails advises its user to do.
inline const Advice kSessionAdvice{
    "--memory-limit, --max-image-size and --threads lower what is taken",
    "what was finished is kept; the same command, without --overwrite, goes on from there"};

/// The same of one that is stopped before its work begins.
inline const Advice kUnbegunAdvice{kSessionAdvice.out_of_memory,
                                   "nothing was begun; the same command starts again"};

/// State shared by all inputs. Finding and opening GPUs takes long and overlaps with the first scene's model
/// and undistortion.
struct SharedWork {
  const SessionOptions& options;
  std::shared_future<DeviceChoice> choice;
  std::shared_future<OpenDevices> devices;
  bool in_session;
  double start = 0;  ///< seconds from the start of the process until work begins
  std::shared_ptr<DeviceNotice> notice = {};

  const Backends& backends() const { return devices.get().backends; }
  /// A device that is named has to be there before anything is written. @throws DeviceUnavailable
  void require_device() const {
    if (options.device != "auto") choice.get();
  }
  /// Whether the CPU is all there is to open, so that memory can be planned before photos are read.
  bool without_gpu() const { return options.device == "cpu"; }
};

/// Exit code: some views, or some of several inputs, failed.
inline constexpr int kSomeFailed = 7;

/// The result of one input.
struct Outcome {
  int exit_code = 0;
  nlohmann::json object;  ///< that `--json` prints
  std::string text;
  std::string report = {};             ///< the page about it; empty: there is none
  std::exception_ptr error = nullptr;  ///< why it has no results
};

/// All steps of one scene, or with --dry-run its plan.
/// @param turn      becomes alone for a scene that is large or takes long
/// @param warnings  set where it throws: what had been warned of
/// @throws Error of any kind: the scene has no result
Outcome do_scene(const SceneFolder& folder, const SharedWork& work, Turn& turn,
                 std::vector<std::string>& warnings);

/// Matches a rectified pair and writes disparity.pfm, disparity.png and preview.png, with a calibration
/// depth.pfm and fused.ply, and the reports; finished and unchanged results are kept. With --dry-run its
/// plan: sizes, disparities, memory, and the time of the matching; no results are written.
/// @throws InputError when nothing matches, or a calibration gives no points
/// @throws UsageError, OutOfMemory, OutputError, DeviceError, Interrupted
Outcome do_pair(const PairFiles& files, const SharedWork& work, const Turn& turn);

}  // namespace recon
