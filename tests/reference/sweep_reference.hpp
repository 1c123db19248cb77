#pragma once

#include <vector>

#include "methods/sweep/sweep_problem.hpp"

namespace recon::reference {

/// The cost of one sample of a plane sweep, implemented from the textbook, in double precision and without
/// any shared code: the pixel's ray intersects the plane at depth `z`, the point is projected into each
/// source, windows are sampled pixel by pixel, and the costs of the sources are sorted. As in the definition
/// of the sweep, sample positions are rounded to 1/256 pixel and samples to integer grey levels.
/// @returns the cost before it is rounded to a half; infinity if no source sees the sample
double sample_cost(const SweepProblem& problem, int x, int y, double z);

/// Inverse depth of plane d of D, which may lie between planes: uniform from 1/far to 1/near.
double plane_inverse_depth(double near, double far, int planes, double d);

/// A winner: the plane of min cost (the lowest one on ties; -1 if no sample has a cost), and after
/// interpolation by a parabola the fractional plane, its depth, and sqrt(1 - cost / second), where `second`
/// is the min cost of the non-adjacent planes.
struct TextbookWinner {
  int plane = -1;
  double cost = 0, second = 0, fractional_plane = 0, depth = 0, confidence = 0;
};

/// The winner among costs by plane, infinite where there is none.
TextbookWinner textbook_winner(const std::vector<double>& costs, double near, double far);

}  // namespace recon::reference
