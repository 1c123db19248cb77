#include "optimize/patch_match/smooth_planes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/patch_match/smooth_planes.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_SMOOTH_PLANES_ONCE
#define RECON_SMOOTH_PLANES_ONCE
namespace recon {

/// A row of pixels that are offered planes.
struct AgreedRow {
  const PatchStates& states;
  ImageView<const std::uint8_t> reference;
  const InverseRange& range;
  int y;
  const float* units;
  SlantedPlane* planes;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using SmoothF = hn::ScalableTag<float>;
using SmoothV = hn::Vec<SmoothF>;

HWY_INLINE SmoothV constant(float value) {
  return hn::Set(SmoothF(), value);
}

/// The states of consecutive pixels.
struct StateVectors {
  SmoothV w, wx, wy, cost;
};

HWY_INLINE StateVectors load_states(const PatchState* states) {
  static_assert(sizeof(PatchState) == 4 * sizeof(float));
  SmoothV w, wx, wy, cost;
  hn::LoadInterleaved4(SmoothF(), &states->plane.w, w, wx, wy, cost);
  return {w, wx, wy, cost};
}

HWY_INLINE SmoothV load_grey(const std::uint8_t* grey) {
  const hn::RebindToSigned<SmoothF> whole;
  const hn::Rebind<std::uint8_t, SmoothF> bytes;
  return hn::ConvertTo(SmoothF(), hn::PromoteTo(whole, hn::LoadU(bytes, grey)));
}

/// AgreedWindow of consecutive pixels; only the rows of cells inside the image.
struct WindowVectors {
  int first_row, rows;
  alignas(64) float w[kAgreedCells * hn::MaxLanes(SmoothF())];
  alignas(64) float weight[kAgreedCells * hn::MaxLanes(SmoothF())];

  HWY_INLINE SmoothV at(const float* values, int row, int column) const {
    return hn::Load(SmoothF(), values + (row * kAgreedSide + column) * hn::Lanes(SmoothF()));
  }
};

void load_window(const AgreedRow& row, int x, SmoothV scale, WindowVectors& window) {
  const SmoothF f;
  const SmoothV centre = load_grey(row.reference.row(row.y) + x);
  window.first_row = window.rows = 0;
  for (int j = 0; j < kAgreedSide; ++j) {
    const int y = row.y + (j - kAgreedRadius) * kAgreedStride;
    if (y < 0) window.first_row = j + 1;
    if (y < 0 || y >= row.states.height) continue;
    window.rows = j + 1;
    for (int i = 0; i < kAgreedSide; ++i) {
      const int column = x + (i - kAgreedRadius) * kAgreedStride;
      const StateVectors state = load_states(&row.states.at(column, y));
      const SmoothV difference = hn::Sub(load_grey(row.reference.row(y) + column), centre);
      const SmoothV relative = hn::Mul(difference, constant(1.0f / kAgreedGrey));
      const SmoothV certainty = hn::Max(hn::Sub(constant(1.0f), state.cost), constant(kMinCertainty));
      const auto at = (j * kAgreedSide + i) * hn::Lanes(f);
      hn::Store(hn::Mul(state.w, scale), f, window.w + at);
      hn::Store(hn::Div(certainty, hn::Add(constant(1.0f), hn::Mul(relative, relative))), f,
                window.weight + at);
    }
  }
}

/// WindowPlane of consecutive pixels.
struct PlaneVectors {
  SmoothV w, across, down;
};

/// Calls visit(row, column, weight, distance, share) for each cell: see WindowPlane::distance; the share is
/// positive where the cell lies on the plane, else 0.
template <class Visit>
HWY_INLINE void visit_cells(const WindowVectors& window, const PlaneVectors& plane, const Visit& visit) {
  for (int j = window.first_row; j < window.rows; ++j) {
    const auto row_number = constant(static_cast<float>(j - kAgreedRadius));
    const SmoothV row = hn::Add(plane.w, hn::Mul(plane.down, row_number));
    for (int i = 0; i < kAgreedSide; ++i) {
      const auto column_number = constant(static_cast<float>(i - kAgreedRadius));
      const SmoothV distance =
          hn::Sub(window.at(window.w, j, i), hn::Add(row, hn::Mul(plane.across, column_number)));
      const SmoothV share = hn::Sub(constant(1.0f), hn::Mul(distance, distance));
      visit(row_number, column_number, window.at(window.weight, j, i), distance,
            hn::Max(share, constant(0.0f)));
    }
  }
}

HWY_INLINE SmoothV support_of(const WindowVectors& window, const PlaneVectors& plane) {
  SmoothV sum = constant(0.0f);
  visit_cells(window, plane, [&](SmoothV, SmoothV, SmoothV weight, SmoothV, SmoothV share) HWY_ATTR {
    sum = hn::Add(sum, hn::Mul(weight, share));
  });
  return sum;
}

/// See recon::fitted_plane.
HWY_INLINE PlaneVectors fit(const WindowVectors& window, const PlaneVectors& plane) {
  SmoothV n, u, v, uu, uv, vv, d, ud, vd;
  n = u = v = uu = uv = vv = d = ud = vd = constant(0.0f);
  visit_cells(window, plane,
              [&](SmoothV row, SmoothV column, SmoothV cell, SmoothV distance, SmoothV share) HWY_ATTR {
                const SmoothV weight = hn::Mul(cell, hn::Mul(share, share));
                const SmoothV column_weight = hn::Mul(weight, column), row_weight = hn::Mul(weight, row);
                n = hn::Add(n, weight), u = hn::Add(u, column_weight), v = hn::Add(v, row_weight);
                uu = hn::Add(uu, hn::Mul(column_weight, column));
                uv = hn::Add(uv, hn::Mul(column_weight, row));
                vv = hn::Add(vv, hn::Mul(row_weight, row));
                d = hn::Add(d, hn::Mul(weight, distance));
                ud = hn::Add(ud, hn::Mul(column_weight, distance));
                vd = hn::Add(vd, hn::Mul(row_weight, distance));
              });
  const SmoothV inverse = hn::Div(constant(1.0f), n);
  const SmoothV mean_u = hn::Mul(u, inverse), mean_v = hn::Mul(v, inverse);
  uu = hn::Sub(uu, hn::Mul(u, mean_u)), uv = hn::Sub(uv, hn::Mul(u, mean_v));
  vv = hn::Sub(vv, hn::Mul(v, mean_v));
  ud = hn::Sub(ud, hn::Mul(d, mean_u)), vd = hn::Sub(vd, hn::Mul(d, mean_v));
  const SmoothV determinant = hn::Sub(hn::Mul(uu, vv), hn::Mul(uv, uv));
  const auto slanted = hn::Gt(determinant, hn::Mul(constant(kMinAgreedSpread), hn::Mul(n, n)));
  const auto slope = [&](SmoothV a, SmoothV b) HWY_ATTR {
    return hn::IfThenElseZero(slanted, hn::Div(hn::Sub(a, b), determinant));
  };
  const SmoothV across = slope(hn::Mul(ud, vv), hn::Mul(vd, uv)),
                down = slope(hn::Mul(vd, uu), hn::Mul(ud, uv));
  const SmoothV rest = hn::Sub(hn::Sub(d, hn::Mul(across, u)), hn::Mul(down, v));
  return {hn::Add(plane.w, hn::Mul(rest, inverse)), hn::Add(plane.across, across), hn::Add(plane.down, down)};
}

HWY_INLINE hn::Mask<SmoothF> within(const InverseRange& range, SmoothV w) {
  return hn::And(hn::Ge(w, constant(range.min)), hn::Le(w, constant(range.max)));
}

/// The planes of a vector of pixels, at least kAgreedMargin from the left and right of the image.
void agreed_vector(const AgreedRow& row, int x) {
  const SmoothF f;
  const SmoothV unit = hn::LoadU(f, row.units + x);
  const SmoothV size = hn::Mul(unit, constant(kAgreedReach)), scale = hn::Div(constant(1.0f), size);
  WindowVectors window;
  load_window(row, x, scale, window);
  PlaneVectors best{scale, scale, scale};
  SmoothV most = constant(0.0f);
  for (int c = 0; c < kAgreedCandidates; ++c) {
    const int dx = candidate_column(c) * kAgreedStride, dy = candidate_row(c) * kAgreedStride;
    if (row.y + dy < 0 || row.y + dy >= row.states.height) continue;
    const StateVectors state = load_states(&row.states.at(x + dx, row.y + dy));
    const SmoothV w = hn::Add(state.w, hn::Add(hn::Mul(state.wx, constant(static_cast<float>(-dx))),
                                               hn::Mul(state.wy, constant(static_cast<float>(-dy)))));
    const SmoothV slope = hn::Mul(scale, constant(static_cast<float>(kAgreedStride)));
    const PlaneVectors candidate{hn::Mul(w, scale), hn::Mul(state.wx, slope), hn::Mul(state.wy, slope)};
    const SmoothV support = support_of(window, candidate);
    const auto better = hn::And(within(row.range, w), hn::Gt(support, most));
    most = hn::IfThenElse(better, support, most);
    best.w = hn::IfThenElse(better, candidate.w, best.w);
    best.across = hn::IfThenElse(better, candidate.across, best.across);
    best.down = hn::IfThenElse(better, candidate.down, best.down);
  }
  const PlaneVectors plane = fit(window, best);
  const SmoothV slope = hn::Mul(size, constant(1.0f / static_cast<float>(kAgreedStride)));
  const SmoothV w = hn::Mul(plane.w, size), cost = load_states(&row.states.at(x, row.y)).cost;
  const auto known = hn::And(hn::And(hn::Gt(unit, constant(0.0f)), hn::Lt(cost, constant(kNoPatchCost))),
                             hn::And(hn::Gt(most, constant(0.0f)), within(row.range, w)));
  hn::StoreInterleaved3(hn::IfThenElse(known, w, constant(__builtin_nanf(""))),
                        hn::IfThenElseZero(known, hn::Mul(plane.across, slope)),
                        hn::IfThenElseZero(known, hn::Mul(plane.down, slope)), f, &row.planes[x].w);
}

void agreed_row(const AgreedRow& row) {
  const auto lanes = static_cast<int>(hn::Lanes(SmoothF()));
  const auto grey = [&](int i, int j) { return static_cast<int>(row.reference(i, j)); };
  const auto one = [&](int x) {
    row.planes[x] = agreed_plane(row.states, x, row.y, row.range, row.units[x], grey);
  };
  const int width = row.states.width;
  int x = 0;
  for (; x < width && x < kAgreedMargin; ++x) one(x);
  for (; x + lanes + kAgreedMargin <= width; x += lanes) agreed_vector(row, x);
  for (; x < width; ++x) one(x);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(agreed_row);

void agreed_planes(const PatchStates& states, ImageView<const std::uint8_t> reference,
                   const InverseRange& range, int y, const float* units, SlantedPlane* planes) {
  EXPECTS(reference.width == states.width && reference.height == states.height);
  HWY_DYNAMIC_DISPATCH(agreed_row)({states, reference, range, y, units, planes});
}

}  // namespace recon
#endif
