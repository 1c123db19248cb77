#include "optimize/scanline/scanline.hpp"

#include <algorithm>
#include <cstddef>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/colour_difference_step.hpp"
#include "optimize/scanline/scanline_step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/scanline/scanline.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_OPTIMIZE_SCANLINE_PASSES_
#define RECON_OPTIMIZE_SCANLINE_PASSES_
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
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kScanlineLanes>;
using FloatVector = hn::Vec<Floats>;

/// scanline_cost on vectors; paths continue where `goes_on` is set, otherwise they start.
template <class M>
HWY_INLINE FloatVector step_costs(M goes_on, FloatVector cost, FloatVector same, FloatVector below,
                                  FloatVector above, FloatVector min_previous, FloatVector p1,
                                  FloatVector p2) {
  const auto farther = hn::Min(same, hn::Add(min_previous, p2));
  const auto best = hn::Min(farther, hn::Min(hn::Add(below, p1), hn::Add(above, p1)));
  return hn::IfThenElse(goes_on, hn::Add(cost, hn::Sub(best, min_previous)), cost);
}

void scanline_along_row(const ScanlineRowPass& pass) {
  const Floats f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const auto none = hn::Set(f, invalid_cost());
  float *before = pass.path[0], *now = pass.path[1];
  float min_previous = invalid_cost();
  for (int i = 0; i < pass.width; ++i) {
    const int x = pass.forward ? i : pass.width - 1 - i;
    const int boundary = pass.forward ? x : x + 1;
    const bool edge = i > 0 && pass.edges[boundary] > 0.0f;
    const std::ptrdiff_t entry = i > 0 ? static_cast<std::ptrdiff_t>(boundary - 1) * pass.entry_step : 0;
    const float* p1 = (edge ? pass.tables.p1_edge : pass.tables.p1) + entry;
    const float* p2 = (edge ? pass.tables.p2_edge : pass.tables.p2) + entry;
    const float* costs = pass.costs + x * pass.record;
    float* sums = pass.sums + x * pass.record;
    const auto farther = hn::Set(f, min_previous);
    const auto goes_on = hn::Lt(farther, none);
    auto min_now = none;
    for (int d = 0; d < pass.planes; d += lanes) {
      const auto cost = hn::Load(f, costs + d);
      const auto path =
          step_costs(goes_on, cost, hn::LoadU(f, before + d), hn::LoadU(f, before + d - 1),
                     hn::LoadU(f, before + d + 1), farther, hn::LoadU(f, p1 + d), hn::LoadU(f, p2 + d));
      hn::StoreU(path, f, now + d);
      min_now = hn::Min(min_now, path);
      hn::Store(pass.forward ? path : hn::Add(hn::Load(f, sums + d), path), f, sums + d);
    }
    min_previous = hn::GetLane(hn::MinOfLanes(f, min_now));
    std::swap(before, now);
  }
}

void scanline_down_columns(const ScanlineColumnPass& pass) {
  const Floats f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const auto none = hn::Set(f, invalid_cost());
  const auto scale = hn::Set(f, pass.scale);
  const ScanlineTables& tables = pass.tables;
  for (int i = 0; i < pass.columns; i += lanes) {
    const auto min_previous = pass.begins ? none : hn::Load(f, pass.min_previous + i);
    const auto goes_on = hn::Lt(min_previous, none);
    const auto edge = hn::Gt(hn::Load(f, pass.edges + i), hn::Zero(f));
    auto below = none, min_now = none;
    auto same = pass.begins ? none : hn::Load(f, pass.path + i);
    for (int d = 0; d < pass.costs.planes; ++d) {
      const bool last = pass.begins || d + 1 == pass.costs.planes;
      const auto above = last ? none : hn::Load(f, pass.path + (d + 1) * pass.stride + i);
      const std::ptrdiff_t entry = static_cast<std::ptrdiff_t>(d) * pass.entry_step + i;
      const auto p1 =
          hn::IfThenElse(edge, hn::LoadU(f, tables.p1_edge + entry), hn::LoadU(f, tables.p1 + entry));
      const auto p2 =
          hn::IfThenElse(edge, hn::LoadU(f, tables.p2_edge + entry), hn::LoadU(f, tables.p2 + entry));
      const auto cost = hn::Load(f, pass.costs.row(pass.y, d) + pass.first + i);
      const auto path = step_costs(goes_on, cost, same, below, above, min_previous, p1, p2);
      hn::Store(path, f, pass.path + d * pass.stride + i);
      min_now = hn::Min(min_now, path);
      float* mean = pass.mean.row(pass.y, d) + pass.first + i;
      hn::Store(hn::Mul(hn::Add(hn::Load(f, mean), path), scale), f, mean);
      below = same;
      same = above;
    }
    hn::Store(min_now, f, pass.min_previous + i);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(scanline_along_row);
HWY_EXPORT(scanline_down_columns);

namespace {

constexpr int kStripColumns = 64;

std::ptrdiff_t whole_vectors(std::ptrdiff_t count) {
  return (count + kScanlineLanes - 1) / kScanlineLanes * kScanlineLanes;
}

/// P1 and P2 of steps, with and without an edge in the reference view, by position in the other view.
class PenaltyTables {
 public:
  explicit PenaltyTables(std::ptrdiff_t entries)
      : stride_(whole_vectors(entries) + kScanlineLanes), values_(element_count({4, stride_})) {
    std::fill_n(values_.data(), 4 * stride_, 0.0f);  // padding that vectors read after the last entry
  }

  /// @param matched_edge  matched_edge(edge): whether the step crosses an edge in the other view; `edge` if
  ///                      it lies outside
  template <class MatchedEdge>
  void set(const ScanlineOptions& options, int entry, const MatchedEdge& matched_edge) {
    for (const bool edge : {false, true}) {
      const ScanlinePenalties penalties = scanline_penalties(options, edge, matched_edge(edge));
      values_.data()[(edge ? 2 : 0) * stride_ + entry] = penalties.p1;
      values_.data()[(edge ? 3 : 1) * stride_ + entry] = penalties.p2;
    }
  }

  ScanlineTables from(std::ptrdiff_t entry) const {
    const float* first = values_.data() + entry;
    return {first, first + stride_, first + 2 * stride_, first + 3 * stride_};
  }

 private:
  std::ptrdiff_t stride_;
  AlignedBuffer<float> values_;
};

struct ScanlineProblem {
  VolumeView<const float> costs;
  ImageView<const Rgb8> reference;
  ScanlineView other;
  ScanlineOptions options;
  VolumeView<float> mean;

  bool is_edge(Rgb8 a, Rgb8 b) const { return max_difference(a, b) >= options.edge_threshold; }
  int plane_step() const { return other.side == PairSide::kLeft ? -1 : 1; }
  /// Table entries are columns of the other view in plane order.
  int column_of(int entry, int first_column) const { return first_column + plane_step() * entry; }
};

/// Computes both paths along row y, the first two of the sum.
void optimize_row(const ScanlineProblem& problem, int y) {
  const VolumeView<const float>& costs = problem.costs;
  const int width = costs.width, planes = costs.planes;
  const std::ptrdiff_t record = whole_vectors(planes);
  AlignedBuffer<float> by_pixel(element_count({width, record})), sums(element_count({width, record}));
  AlignedBuffer<float> paths(element_count({2, record + 2 * kScanlineLanes})), edges(width);
  std::fill_n(paths.data(), 2 * (record + 2 * kScanlineLanes), invalid_cost());
  for (int x = 0; x < width; ++x)
    std::fill(by_pixel.data() + x * record + planes, by_pixel.data() + (x + 1) * record, invalid_cost());
  for (int d = 0; d < planes; ++d) {
    const float* row = costs.row(y, d);
    for (int x = 0; x < width; ++x) by_pixel.data()[x * record + d] = row[x];
  }
  const ImageView<const Rgb8> view = problem.reference, other = problem.other.image;
  for (int s = 1; s < width; ++s) edges.data()[s] = problem.is_edge(view(s - 1, y), view(s, y)) ? 1.0f : 0.0f;
  const int steps = width - 1, entries = std::max(steps + planes - 1, 1);
  PenaltyTables tables(entries);
  const int step = problem.plane_step();
  // Entry 0 is the last step on the first plane if planes go to the left, otherwise the first step.
  const int first =
      matching_column(problem.other.side, step < 0 ? width - 1 : 1, problem.other.min_disparity);
  for (int entry = 0; entry < entries; ++entry) {
    const int u = problem.column_of(entry, first);
    tables.set(problem.options, entry, [&](bool edge) {
      return u < 1 || u >= other.width ? edge : problem.is_edge(other(u - 1, y), other(u, y));
    });
  }
  ScanlineRowPass pass;
  pass.costs = by_pixel.data();
  pass.sums = sums.data();
  pass.record = record;
  pass.width = width;
  pass.planes = planes;
  pass.entry_step = step;
  pass.tables = tables.from(step < 0 ? std::max(steps - 1, 0) : 0);
  pass.edges = edges.data();
  pass.path[0] = paths.data() + kScanlineLanes;
  pass.path[1] = pass.path[0] + record + kScanlineLanes;
  for (const bool forward : {true, false}) {
    pass.forward = forward;
    HWY_DYNAMIC_DISPATCH(scanline_along_row)(pass);
  }
  for (int d = 0; d < planes; ++d) {
    float* row = problem.mean.row(y, d);
    for (int x = 0; x < width; ++x) row[x] = sums.data()[x * record + d];
  }
}

/// Computes the paths down and then up the columns of a strip, which complete the sum.
void optimize_strip(const ScanlineProblem& problem, int first) {
  const VolumeView<const float>& costs = problem.costs;
  const int columns = std::min(kStripColumns, costs.width - first), planes = costs.planes;
  const int entries = columns + planes - 1, step = problem.plane_step();
  AlignedBuffer<float> path(element_count({planes, kStripColumns})), min_previous(kStripColumns),
      edges(kStripColumns);
  PenaltyTables tables(entries);
  ScanlineColumnPass pass{costs,        problem.mean, 0,    first,        columns,     true,
                          1.0f,         {},           step, edges.data(), path.data(), min_previous.data(),
                          kStripColumns};
  // Entries ascend with the column; if planes go to the left, the entries of the first plane are last.
  pass.tables = tables.from(step < 0 ? planes - 1 : 0);
  const int first_column =
      matching_column(problem.other.side, first, problem.other.min_disparity + (step < 0 ? planes - 1 : 0));
  std::fill_n(edges.data(), kStripColumns, 0.0f);
  const ImageView<const Rgb8> view = problem.reference, other = problem.other.image;
  for (const int direction : {1, -1}) {
    pass.scale = direction > 0 ? 1.0f : 0.25f;
    for (int row = 0; row < costs.height; ++row) {
      const int y = direction > 0 ? row : costs.height - 1 - row, from = y - direction;
      pass.y = y;
      pass.begins = row == 0;
      for (int i = 0; i < columns && row > 0; ++i)
        edges.data()[i] = problem.is_edge(view(first + i, y), view(first + i, from)) ? 1.0f : 0.0f;
      for (int entry = 0; entry < entries && row > 0; ++entry) {
        const int u = first_column + entry;
        tables.set(problem.options, entry, [&](bool edge) {
          return u < 0 || u >= other.width ? edge : problem.is_edge(other(u, y), other(u, from));
        });
      }
      HWY_DYNAMIC_DISPATCH(scanline_down_columns)(pass);
    }
  }
}

/// Of the rows and strips that threads work on.
std::size_t bytes_of_scanlines(int width, int planes, int threads) {
  const std::size_t row = element_count({width, 2 * whole_vectors(planes) + 5, sizeof(float)});
  const std::size_t tables =
      element_count({4, whole_vectors(width + planes) + 2 * kScanlineLanes, sizeof(float)});
  const std::size_t paths =
      element_count({whole_vectors(planes) + 2 * kScanlineLanes, kStripColumns, sizeof(float)});
  return static_cast<std::size_t>(threads) * (row + tables + paths);
}

}  // namespace

void optimize_scanlines(VolumeView<const float> costs, ImageView<const Rgb8> reference,
                        const ScanlineView& other, const ScanlineOptions& options, VolumeView<float> mean) {
  EXPECTS(costs.planes >= 1 && reference.width == costs.width && reference.height == costs.height);
  EXPECTS(other.image.empty() || other.image.height == costs.height);
  EXPECTS(mean.width == costs.width && mean.height == costs.height && mean.planes == costs.planes);
  EXPECTS(options.p1 >= 0.0f && options.p2 >= options.p1);
  const ScanlineProblem problem{costs, reference, other, options, mean};
  compute([&](int threads) { return bytes_of_scanlines(costs.width, costs.planes, threads); },
          [&] {
            parallel_for(costs.height, [&](int y) { optimize_row(problem, y); });
            parallel_for((costs.width + kStripColumns - 1) / kStripColumns,
                         [&](int strip) { optimize_strip(problem, strip * kStripColumns); });
          });
}

}  // namespace recon
#endif
