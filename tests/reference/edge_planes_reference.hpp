#pragma once

#include <vector>

namespace recon::reference {

/// A pixel as edges are judged by: its plane, cost and colour.
struct EdgePixel {
  double w, wx, wy, cost;
  int r, g, b;
};

/// A pass: how far the farther and the nearer surface may be, the margin of insides, the radius of the votes;
/// the factor of the votes for the farther surface, and how many times the votes for the next the winner
/// needs; how many voters for the own surface have to look unlike the pixel for the unmatched ones to count.
struct EdgeRules {
  int farther, nearer, margin, radius;
  double gain, lead;
  int unlike;
};

/// What a pixel gets: the plane of a pixel, or its own; or nothing, by the unmatched pixels alone or else.
struct EdgeDecision {
  int giver;
  bool unknown, by_unmatched;
};

/// The decisions by (y, x). From the description, in double precision: pixels of costs up to 0.6 without an
/// edge (a ratio of inverse depths above 1.02) within the margin on an axis or diagonal vote for their
/// surface, continued to the pixel: with 2^-e, e = 1 / 16 difference summed over the channels + 3 / 64
/// squared distance, each cut down to eighths, linear between whole e, in units of 2^-16. Surfaces are the
/// own one, nearer and farther ones by the ratio. A surface counts sum / sqrt(number); the own sum begins at
/// 1/4. A farther (nearer) surface takes part if one is within reach on an axis or diagonal and a vote for it
/// lies within min and max. Most votes win, and get the plane with the highest vote, of these the first.
/// A pixel that keeps its own plane is unknown, too, if the differences to `unlike` voters for it are above
/// 96 and the pixels of costs above 0.6, which vote in the same way, have more votes than it.
std::vector<EdgeDecision> edge_planes(const std::vector<EdgePixel>& pixels, int width, int height, double min,
                                      double max, const EdgeRules& rules);

}  // namespace recon::reference
