#pragma once

#include <cstddef>

#include "core/volume.hpp"

namespace recon {

/// Max vector length of a scanline pass in floats: 64 bytes, the row alignment.
inline constexpr int kScanlineLanes = 16;

/// P1 and P2 of steps by position in the other view, without and with an edge in the reference view. Padded
/// by one vector.
struct ScanlineTables {
  const float *p1, *p2;
  const float *p1_edge, *p2_edge;
};

/// A path along a row. Costs and sums have one record per pixel, planes in order; the costs after the last
/// plane are infinite.
struct ScanlineRowPass {
  const float* costs;     ///< costs of the first pixel of the row
  float* sums;            ///< C_r of the path to the right; the path to the left adds its own
  std::ptrdiff_t record;  ///< floats per pixel, a multiple of the max vector length
  int width, planes;
  bool forward;           ///< to the right
  ScanlineTables tables;  ///< step between pixels s - 1 and s on plane d: entry (s - 1) entry_step + d
  int entry_step;         ///< 1, or -1 if the tables point to their end
  const float* edges;     ///< edges[s] > 0: an edge of the reference view lies between pixels s - 1 and s
  float* path[2];         ///< two records, with an infinite float before and after each
};

/// One row of paths along columns; the first column is a multiple of the max vector length.
struct ScanlineColumnPass {
  VolumeView<const float> costs;
  VolumeView<float> mean;  ///< sums of the paths so far
  int y, first, columns;
  bool begins;            ///< the paths start in this row
  float scale;            ///< factor of the sums
  ScanlineTables tables;  ///< step to column first + i on plane d: entry i + d entry_step
  int entry_step;
  const float* edges;   ///< edges[i] > 0: the step to column first + i crosses an edge
  float* path;          ///< C_r of the previous row, replaced by this row; planes are `stride` apart
  float* min_previous;  ///< min_k C_r(q, k) of the previous row, likewise
  std::ptrdiff_t stride;
};

}  // namespace recon
