#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/wavefront.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon {

/// Operation counts of a stage for one problem; its time is their sum weighted with measured costs. Every
/// count is finite, >= 0, and grows with each size that it is a function of.
struct StageWork {
  double calls = 0;       ///< constant part
  double pixels = 0;      ///< of images that are read, prepared or written
  double operations = 0;  ///< on samples of the volume, in the unit that the counting function names
  double bytes = 0;       ///< of volumes, read and written
  double patches = 0;     ///< samples of slanted patches

  static constexpr int kTerms = 5;
  std::array<double, kTerms> terms() const { return {calls, pixels, operations, bytes, patches}; }
  bool operator==(const StageWork&) const = default;
};

/// The parameters of a stage's call that determine its time.
struct StageTask {
  std::string stage;  ///< the stage and those of its options that have costs of their own
  int radius = 0;     ///< of its window, pixels; efficiency is interpolated between radii
  StageWork work = {};
  double pixels = 0, planes = 0, sources = 1;  ///< the size, on which efficiency depends too; each >= 1

  bool operator==(const StageTask&) const = default;
};

/// Work of threads, including idle time: the number of threads times the work of the one that ends last. Of
/// parts that are scheduled dynamically, in their order; and of the pieces of a wavefront, where a band
/// begins when the one above is so far ahead that it need not wait again. See shared_evenly, too.
double shared_work(const std::vector<double>& parts, int threads);
double wavefront_work(int rows, int columns, const WavefrontShape& shape, int threads);

/// A plane sweep of W x H pixels with D planes, S sources and C channels, window (2 R + 1)^2. On a CPU it is
/// cut into tiles, whose windows reach over their borders:
///   operations = D S C (sum over tiles (w + 2 R) (h + 2 R) + (threads - 1) / 2 that of a whole tile, for
///                which threads without work wait at the end)   warped samples
///   bytes = 4 W H D                        costs as halves, written and read
///         + 7 w h lanes(D) for each block of the semi-global optimizer (codes written and read twice, sums
///           of two bytes written and read; lanes(D) is D in steps of 64, on a GPU in powers of two), or of
///           stored costs 8 w h D and those of the aggregation
///   pixels = W H + S C times those of a source
/// With slanted patches of radius r, I iterations and the k best sources of a pixel the counts are those of
/// the coarsest level with pixels = 0, as images are a small part of the time, and
///   patches = (2 r + 1)^2 sum over levels W_l H_l (S + k (1 + 12 I + 4 where there is a coarser level))
///           + W H times the votes of a pixel near a depth edge
/// which is the maximum: the measured cost of a sample includes that evaluations end early.
/// @param threads  of the CPU; 0: a GPU
StageTask sweep_task(const SweepShape& shape, int threads);

/// The matching of a rectified pair of `width` x `height` pixels.
///   bm   operations = W H D steps over all levels of the pyramid, with the bytes of a vector for D, on a GPU
///        lanes(D) up to 512, beyond which the search is another one, a stage of its own: rolling windows
///        cost the same for any radius; bytes = 0
///   sgm  on a CPU operations = samples of the paths, with waiting threads, in steps of 32 columns and 64
///        planes; on a GPU bytes = 7 W H lanes(D), as for a sweep
///   bp   on a CPU operations = messages of overlapping tiles, with waiting threads, and bytes = D times
///        as many, as an update goes over all D and back, and the more they are, the less of the first is
///        still near; on a GPU operations = 4 iterations D sum over levels W_l H_l, and bytes = D s W H of s
///        each
///   each pipeline  per view 8 W H D bytes for each pass over a volume of floats, and its aggregation
///        CW     bytes = 16 W H D (two running sums), operations = W H D
///        AW     with V = H (2 R + 1) - R (R + 1) the rows of all windows inside the image, which threads
///               share, and L = W in steps of 16: operations = D L (2 R + 2) V with the sums, bytes = 8 L
///               (2 R + 1) V, the weights of both views; on a GPU operations = D A and bytes = 8 A with A =
///               (W (2 R + 1) - R (R + 1)) V
///        CROSS  per iteration operations = 2 W H D, planes shared by threads, bytes = 16 W H D
/// @param threads  of the CPU; 0: a GPU
StageTask pair_task(int width, int height, const PairSpec& options, int threads);

/// A task and the time that it took.
struct MeasuredTask {
  StageTask task;
  double seconds = 0;  ///< > 0 and finite
};

/// Measured seconds of a step of the runs on this machine, and the shipped prediction for the same work.
struct RunTimes {
  double seconds = 0, shipped = 0;
};

/// Predicts the time of a task from measured ones:
///   seconds = efficiency(size) * sum_i cost_i work_i
/// with the counts of stage_work.hpp, costs >= 0 that fit the measured tasks of the stage best (least squares
/// of the relative errors), and an efficiency near 1 that makes the sum right where it was measured and is
/// interpolated between sizes and radii: by caches and fill a machine does not do all equally well. Source:
/// J. Fang, A. L. Varbanescu, J. Shen, H. Sips, G. Saygili and L. van der Maaten, "Accelerating cost
/// aggregation for real-time stereo matching", ICPADS 2012, section V (a model of the counts, times an
/// efficiency by radius that is measured once).
struct PerformanceModel {
  std::vector<MeasuredTask> measured;
  std::map<std::string, RunTimes> runs;  ///< by step

  /// Whether the stage was measured at the radius of the task, or at both a smaller and a larger one.
  bool knows(const StageTask& task) const;

  /// Seconds, also for a radius beyond those measured. Deterministic.
  /// @throws std::logic_error when nothing is known of the stage
  double seconds(const StageTask& task) const;

  /// Records the time of a step of a run. Each later run halves the weight of the earlier ones.
  /// @param seconds, shipped  > 0 and finite
  void learn(const std::string& step, double seconds, double shipped);

  /// Ratio of measured to shipped time of a step; 1 if no run had it.
  double factor(const std::string& step) const;
};

/// The time of a call by the costs that ship with the program: measured on two threads of a Xeon with
/// AVX-512 and on an H200, accurate to a factor of two elsewhere. Threads of a CPU are taken to share the
/// work evenly.
/// @param threads  of the CPU; 0: a GPU
double shipped_seconds(const StageTask& task, int threads);

/// Seconds by the model if it knows the stage, else by the shipped costs.
inline double predicted_seconds(const PerformanceModel& model, const StageTask& task, int threads) {
  return model.knows(task) ? model.seconds(task) : shipped_seconds(task, threads);
}

/// Identifies a calibration, which holds for one device, version and number of threads.
struct CalibrationKey {
  std::string device;   ///< as Backend::name says it
  int threads = 0;      ///< of the host
  std::string version;  ///< of the program
};

/// The file of a calibration: in `reconstruct` in $XDG_CACHE_HOME, or in $HOME/.cache; empty where neither
/// variable is an absolute path.
std::filesystem::path calibration_path(const CalibrationKey& key);

/// The measurements as JSON.
std::string calibration_text(const CalibrationKey& key, const PerformanceModel& model);

/// Parses the text of `calibration_text`.
/// @param file  name in messages
/// @throws InputError if it is damaged or has another key
PerformanceModel parse_calibration(std::string_view text, const CalibrationKey& key, const std::string& file);

/// The stored calibration; empty if there is none or, with a warning, if it cannot be used.
PerformanceModel load_calibration(const CalibrationKey& key);

/// Replaces the stored calibration; warns if it cannot be written.
void save_calibration(const CalibrationKey& key, const PerformanceModel& model);

}  // namespace recon
