#pragma once

#include <cstddef>

#include "core/volume.hpp"

namespace recon {

/// Widest vectors that a scanline pass uses, in floats: those of 64 bytes, as rows are padded to.
inline constexpr int kScanlineLanes = 16;

/// P1 and P2 of steps, by where they lie in the other view: without an edge in the reference view, and with
/// one. Readable for a vector behind the last.
struct ScanlineTables {
  const float *p1, *p2;
  const float *p1_edge, *p2_edge;
};

/// A path along a row. Costs and sums lie by pixel, one record each, planes in order; the costs behind the
/// last plane are infinite.
struct ScanlineRowPass {
  const float* costs;     ///< of the first pixel of the row
  float* sums;            ///< C_r of the path to the right, to which the other one adds its own
  std::ptrdiff_t record;  ///< floats from a pixel to the next, whole vectors of the widest kind
  int width, planes;
  bool forward;           ///< to the right
  ScanlineTables tables;  ///< of the step between pixels s - 1 and s on plane d: entry (s - 1) entry_step + d
  int entry_step;         ///< 1, or -1 where the tables point at their end
  const float* edges;     ///< edges[s] > 0: an edge of the reference view lies between pixels s - 1 and s
  float* path[2];         ///< two records, with an infinite float before and after each
};

/// One row of some paths along columns, whose first column is at a multiple of the widest vector.
struct ScanlineColumnPass {
  VolumeView<const float> costs;
  VolumeView<float> mean;  ///< sums of the paths so far
  int y, first, columns;
  bool begins;            ///< the paths begin in this row
  float scale;            ///< what the sums are multiplied by
  ScanlineTables tables;  ///< of the step to column first + i on plane d: entry i + d entry_step
  int entry_step;
  const float* edges;  ///< edges[i] > 0: the step to column first + i crosses an edge
  float* path;         ///< C_r of the row before, replaced by those of this row; by plane, `stride` apart
  float* least;        ///< min_k C_r(q, k) of the row before, likewise
  std::ptrdiff_t stride;
};

}  // namespace recon
