#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "optimize/patch_match/patch_match_step.hpp"

/// Depth edges after the patches. A patch that covers an edge is matched by the texture of the nearer
/// surface, whose plane therefore continues some pixels beyond the edge (foreground fattening). At a pixel
/// near an edge the surfaces around it vote by how much the pixel looks like theirs and how close they are;
/// pixels that lie inside a surface, away from edges, vote for it. The pixel gets the plane of the surface
/// that wins. A first pass shortens nearer surfaces; a second one moves edges by a pixel either way.
/// Pixels where they cannot decide become unknown, and so do those that look unlike their surface and like
/// what matches nothing there, such as a bright sky. Reads states and writes others, so that all
/// pixels can be done at once. Votes are integers, so that their order does not matter.
///
/// Sources: D. Scharstein, R. Szeliski, A taxonomy and evaluation of dense two-frame stereo, IJCV 2002,
/// section 5 (the effect); K.-J. Yoon, I. S. Kweon, Adaptive support-weight approach for correspondence
/// search, PAMI 2006 (weights by likeness and distance).

namespace recon {

constexpr float kEdgeRatio = 1.02f;      ///< of the inverse depths on both sides of an edge, at least
constexpr float kMaxMatchedCost = 0.6f;  ///< of a plane that matches
constexpr int kUnlike = 96;              ///< what differs by more is another thing, see EdgeImage::difference

/// A pass over the pixels near edges.
struct EdgePass {
  int farther_reach;  ///< how far from the farther surface a pixel may get its plane, pixels
  int nearer_reach;   ///< and from the nearer one
  int margin;         ///< in which there is no edge around a pixel inside a surface
  int radius;         ///< of the circle in which pixels vote
  int farther_gain;   ///< square of what the votes for the farther surface are multiplied by
  int min_lead;       ///< square of how many times the votes for another the winner needs to be known
  int min_unlike;     ///< voters for its surface that a pixel looks unlike, for unmatched ones to count
};

constexpr int kEdgePasses = 2;
RECON_HD EdgePass edge_pass(int index) {
  return index == 0 ? EdgePass{4, 0, 2, 8, 4, 2, 25} : EdgePass{1, 1, 1, 4, 1, 4, 8};
}

/// Whether the inverse depth of a pixel at most `reach` from (x, y) on one of the axes or diagonals fulfils a
/// condition.
template <class Condition>
RECON_HD bool any_around(const PatchStates& states, int x, int y, int reach, const Condition& condition) {
  for (int k = 0; k < 9; ++k) {
    const int dx = k % 3 - 1, dy = k / 3 - 1;
    if (dx == 0 && dy == 0) continue;
    for (int d = 1; d <= reach; ++d)
      if (states.contains(x + d * dx, y + d * dy) && condition(states.at(x + d * dx, y + d * dy).plane.w))
        return true;
  }
  return false;
}

/// What a pixel votes for.
enum class EdgeVoter : std::uint8_t {
  kNone,
  kSurface,   ///< it lies inside a surface: its plane matches, and no edge is near
  kUnmatched  ///< its plane does not match, or an earlier pass has made it unknown
};

RECON_HD EdgeVoter edge_voter(const PatchStates& states, int x, int y, int margin) {
  const PatchState& own = states.at(x, y);
  const float w = own.plane.w;
  if (!(own.cost <= kMaxMatchedCost)) return EdgeVoter::kUnmatched;
  const bool near_edge = any_around(
      states, x, y, margin, [&](float other) { return other * kEdgeRatio < w || w * kEdgeRatio < other; });
  return near_edge ? EdgeVoter::kNone : EdgeVoter::kSurface;
}

/// What a pixel votes with: half of 2^16 for every 16 levels of difference, and for every 21 of the squared
/// distance; between powers of two linearly.
/// @param difference  summed over three channels
RECON_HD int edge_vote(int difference, int square) {
  const int eighths = (difference >> 1) + (3 * square >> 3);
  return eighths >= 128 ? 0 : (16 - (eighths & 7)) << 12 >> (eighths >> 3);
}

/// The votes for a surface.
struct EdgeVotes {
  int sum = 0, count = 0;
  int unlike = 0;         ///< of the voters, those that look unlike the pixel
  int most = 0;           ///< of a pixel whose plane is within the range
  PatchState state = {};  ///< its plane, continued, and cost
};

/// The own surface has a quarter of a vote, so that a thin object, which has no pixels inside, remains unless
/// it looks like its background.
constexpr int kOwnVotes = 1 << 14;

/// Whether the mean vote for `a`, times the root of its number, is above that for `b`.
/// @param gain  square of a factor for `a`
RECON_HD bool has_more_votes(const EdgeVotes& a, int gain, const EdgeVotes& b) {
  const auto square = [](int sum) { return static_cast<std::int64_t>(sum) * sum; };
  return square(a.sum) * gain * (b.count > 0 ? b.count : 1) > square(b.sum) * (a.count > 0 ? a.count : 1);
}

/// The reference, in whose pixels surfaces are recognised.
struct EdgeImage {
  const std::uint8_t* grey;
  std::ptrdiff_t grey_pitch;
  const Rgb8* colours;  ///< null: compare grey levels
  std::ptrdiff_t colour_pitch;

  /// The difference of two pixels, summed over three channels.
  RECON_HD int difference(int x, int y, int i, int j) const {
    const auto distance = [](int a, int b) { return a < b ? b - a : a - b; };
    if (colours == nullptr) return 3 * distance(grey[y * grey_pitch + x], grey[j * grey_pitch + i]);
    const Rgb8 a = colours[y * colour_pitch + x], b = colours[j * colour_pitch + i];
    return distance(a.r, b.r) + distance(a.g, b.g) + distance(a.b, b.b);
  }
};

/// The votes around a pixel.
struct EdgePoll {
  EdgeVotes own, farther, nearer, unmatched;
};

/// Collects the votes around pixel (x, y), see edge_state.
template <class Voter>
RECON_HD EdgePoll edge_poll(const PatchStates& states, int x, int y, const InverseRange& range, int radius,
                            const EdgeImage& reference, const Voter& voter) {
  const float w = states.at(x, y).plane.w;
  EdgePoll poll;
  poll.own.sum = kOwnVotes;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int square = dx * dx + dy * dy, i = x + dx, j = y + dy;
      if (square > radius * radius || !states.contains(i, j)) continue;
      const EdgeVoter role = voter(i, j);
      if (role == EdgeVoter::kNone) continue;
      const auto& [plane, cost] = states.at(i, j);
      const float here = inverse_depth(plane, static_cast<float>(-dx), static_cast<float>(-dy));
      const int difference = reference.difference(x, y, i, j), vote = edge_vote(difference, square);
      EdgeVotes& votes = role == EdgeVoter::kUnmatched ? poll.unmatched
                         : here * kEdgeRatio < w       ? poll.farther
                         : w * kEdgeRatio < here       ? poll.nearer
                                                       : poll.own;
      votes.sum += vote;
      ++votes.count;
      votes.unlike += difference > kUnlike;
      if (vote <= votes.most || !contains(range, here)) continue;
      votes.most = vote;
      votes.state = {{here, plane.wx, plane.wy}, cost};
    }
  return poll;
}

/// The state of pixel (x, y), or the plane of the surface that it looks like: of its pixels that with the
/// highest vote, of these the first in row-major order. With kNoPatchCost where no surface leads, or
/// where unmatched pixels lead and the own surface looks different.
/// @param range  of the inverse depths
/// @param voter  voter(x, y): see edge_voter
template <class Voter>
RECON_HD PatchState edge_state(const PatchStates& states, int x, int y, const InverseRange& range,
                               const EdgePass& pass, const EdgeImage& reference, const Voter& voter) {
  const PatchState own = states.at(x, y);
  const float w = own.plane.w;
  const bool may_be_farther =
      any_around(states, x, y, pass.farther_reach, [&](float other) { return other * kEdgeRatio < w; });
  const bool may_be_nearer =
      any_around(states, x, y, pass.nearer_reach, [&](float other) { return w * kEdgeRatio < other; });
  if (!may_be_farther && !may_be_nearer) return own;
  EdgePoll poll = edge_poll(states, x, y, range, pass.radius, reference, voter);
  poll.own.state = own;
  if (!may_be_farther || poll.farther.most == 0) poll.farther = {};
  if (!may_be_nearer || poll.nearer.most == 0) poll.nearer = {};
  const bool is_farther = has_more_votes(poll.farther, pass.farther_gain, poll.own);
  const EdgeVotes* first = is_farther ? &poll.farther : &poll.own;
  const EdgeVotes* second = is_farther ? &poll.own : &poll.farther;
  if (has_more_votes(poll.nearer, 1, *first))
    second = first, first = &poll.nearer;
  else if (has_more_votes(poll.nearer, 1, *second))
    second = &poll.nearer;
  PatchState result = first->state;
  const bool is_unlike = first == &poll.own && poll.own.unlike >= pass.min_unlike;
  if (has_more_votes(*second, pass.min_lead, *first) ||
      (is_unlike && has_more_votes(poll.unmatched, 1, poll.own)))
    result.cost = kNoPatchCost;
  return result;
}

}  // namespace recon
