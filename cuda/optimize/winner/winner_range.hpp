#pragma once

#include "core/hd.hpp"
#include "optimize/winner/winner_step.hpp"

namespace recon::cuda {

/// Winner-take-all state of a pixel over the planes begin .. end-1 only: enough to merge adjacent ranges into
/// the winner of all planes.
struct WinnerRange {
  Winner winner;  ///< `plane` counts from plane 0 of the whole sweep
  float first;    ///< cost of plane begin
  float last;     ///< cost of plane end - 1
};

/// The half values that store a WinnerRange.
enum WinnerField {
  kFieldCost,
  kFieldPlane,
  kFieldBefore,
  kFieldAfter,
  kFieldSecond,
  kFieldFirst,
  kFieldLast
};
inline constexpr int kWinnerFields = 7;

/// The plane index that marks a pixel without any cost.
inline constexpr unsigned kNoWinner = 0xFFFF;

/// Merges the range of `a` with the following range of `b`, which begins at plane `begin`: equal to a scan of
/// both.
///
/// `second` excludes the planes adjacent to the winner, one of which may lie across the border. The min cost
/// of `a` without its last plane is a.cost unless the winner of `a` is that plane; then it is the min of
/// `before` and `second`. Likewise for `b` without its first plane.
RECON_HD WinnerRange joined(const WinnerRange& a, const WinnerRange& b, int begin) {
  WinnerRange result;
  result.first = a.first;
  result.last = b.last;
  const bool a_ends = a.winner.plane == begin - 1;
  const bool b_begins = b.winner.plane == begin;
  const float a_rest = a.winner.before < a.winner.second ? a.winner.before : a.winner.second;
  const float b_rest = b.winner.after < b.winner.second ? b.winner.after : b.winner.second;
  float other;
  if (b.winner.cost < a.winner.cost) {
    result.winner = b.winner;
    if (b_begins) result.winner.before = a.last;
    other = a_ends && b_begins ? a_rest : a.winner.cost;
  } else {
    result.winner = a.winner;
    if (a_ends) result.winner.after = b.first;
    other = a_ends && b_begins ? b_rest : b.winner.cost;
  }
  if (other < result.winner.second) result.winner.second = other;
  return result;
}

}  // namespace recon::cuda
