#pragma once

#include <array>
#include <string>
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

}  // namespace recon
