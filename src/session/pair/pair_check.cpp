#include "session/pair/pair_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"

namespace recon {

namespace {

constexpr int kRadius = 3;  ///< of the window
constexpr int kSide = 2 * kRadius + 1;
constexpr int kWindow = kSide * kSide;
/// Cells that the left image is divided into, with one place each, and candidates a side of a cell.
constexpr int kPatchColumns = 24, kRows = 18, kCandidates = 8;
/// Bound of places times disparities.
constexpr int kMaxWork = 100000;
/// Rows that are searched above and below.
constexpr int kRowReach = 8;
/// Variance of a window with texture, in squared steps of the image.
constexpr double kMinVariance = 0.5;
/// Correlation at which a place is found again, and by how much a better one has to be better.
constexpr double kFound = 0.9, kClearlyBetter = 0.1;
/// Fewer places say nothing.
constexpr int kMinPlaces = 30;
/// Rows that do not correspond are this far off, pixels: everywhere, or between the sides.
constexpr double kOffRows = 1, kAcross = 2;
/// Share of the places that are found again: in right pairs 0.8 and more, in others up to 0.2 by chance. With
/// less than the larger one nothing is said of rows and disparities.
constexpr double kMinFound = 0.3, kHardlyFound = 0.2;
/// Share of the places beyond the disparities that are searched.
constexpr double kOutside = 0.15;

template <class T>
struct Patch {
  std::array<double, kWindow> value;
  double squares = 0;  ///< of the values less their mean

  Patch(const ImageView<const T>& image, int x, int y) {
    double sum = 0;
    std::size_t i = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy)
      for (int dx = -kRadius; dx <= kRadius; ++dx) sum += value[i++] = image(x + dx, y + dy);
    for (double& v : value) {
      v -= sum / kWindow;
      squares += v * v;
    }
  }
};

/// The windows of a place and of its match; -1 where the match has no texture.
template <class T>
double correlation(const Patch<T>& a, const Patch<T>& b) {
  if (b.squares < kMinVariance * kWindow) return -1;
  double sum = 0;
  for (std::size_t i = 0; i < kWindow; ++i) sum += a.value[i] * b.value[i];
  return sum / std::sqrt(a.squares * b.squares);
}

struct PatchPlace {
  int x, y;
};

/// The place of most contrast in each cell of an image.
template <class T>
std::vector<PatchPlace> places_of(const ImageView<const T>& image) {
  std::vector<PatchPlace> places;
  const int width = image.width - 2 * kRadius, height = image.height - 2 * kRadius;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kPatchColumns; ++column) {
      double most = kMinVariance * kWindow;
      std::optional<PatchPlace> place;
      for (int j = 0; j < kCandidates; ++j)
        for (int i = 0; i < kCandidates; ++i) {
          const int x = (column * kCandidates + i) * width / (kPatchColumns * kCandidates) + kRadius;
          const int y = (row * kCandidates + j) * height / (kRows * kCandidates) + kRadius;
          const double squares = Patch<T>(image, x, y).squares;
          if (squares < most) continue;
          most = std::nextafter(squares, 2 * squares);
          place = {x, y};
        }
      if (place) places.push_back(*place);
    }
  return places;
}

/// The best match of a place among some disparities.
struct Match {
  double correlation = -1;
  int disparity = 0;
};

template <class T>
Match best_in_row(const Patch<T>& patch, const ImageView<const T>& right, PatchPlace place, int row, int min,
                  int end) {
  Match best;
  if (row < kRadius || row >= right.height - kRadius) return best;
  const int first = std::max(min, place.x - (right.width - kRadius - 1));
  const int last = std::min(end - 1, place.x - kRadius);
  for (int d = first; d <= last; ++d)
    if (const double c = correlation(patch, Patch<T>(right, place.x - d, row)); c > best.correlation)
      best = {c, d};
  return best;
}

/// Where a place is found.
struct Found {
  PatchPlace place;
  Match inside, below, above;  ///< in its own row, in the disparities searched and beside them
  Match in_rows;               ///< in the rows around, in the disparities searched
  int lower = 0;               ///< the row of that, less its own
};

template <class T>
Found find(const ImageView<const T>& left, const ImageView<const T>& right, PatchPlace place,
           DisparityRange range) {
  const Patch<T> patch(left, place.x, place.y);
  const int end = range.min + range.count, beyond = std::max(range.count, 16);
  Found found{place, {}, {}, {}, {}, 0};
  const auto best = [&](int row, int min, int max) {
    return best_in_row(patch, right, place, row, min, max);
  };
  found.inside = found.in_rows = best(place.y, range.min, end);
  found.below = best(place.y, range.min - beyond, range.min);
  found.above = best(place.y, end, end + beyond);
  // What is in its own row at a disparity that is not searched is not in another row.
  const double own_row = std::max(found.below.correlation, found.above.correlation);
  for (int lower = -kRowReach; lower <= kRowReach; ++lower) {
    const Match match = best(place.y + lower, range.min, end);
    if (match.correlation <= std::max(found.in_rows.correlation, own_row)) continue;
    found.in_rows = match;
    found.lower = lower;
  }
  return found;
}

/// The offset of the rows, and its change from the left to the right half of the places.
std::optional<PairFindings::Rows> rows_of(const std::vector<Found>& all, int width) {
  std::vector<int> lower, columns;
  for (const Found& found : all)
    if (found.in_rows.correlation >= kFound) {
      lower.push_back(found.lower);
      columns.push_back(found.place.x);
    }
  if (static_cast<int>(lower.size()) < kMinPlaces) return std::nullopt;
  const auto median = [](std::vector<int>& values) { return static_cast<double>(quantile(values, 0.5)); };
  PairFindings::Rows rows{median(lower), 0, static_cast<int>(lower.size())};
  const double middle = median(columns);
  std::array<std::vector<int>, 2> half_rows, half_columns;
  for (const Found& found : all) {
    if (found.in_rows.correlation < kFound) continue;
    const std::size_t half = found.place.x < middle ? 0 : 1;
    half_rows[half].push_back(found.lower);
    half_columns[half].push_back(found.place.x);
  }
  if (half_rows[0].empty()) return rows;
  const double distance = median(half_columns[1]) - median(half_columns[0]);
  rows.across = (median(half_rows[1]) - median(half_rows[0])) / std::max(distance, 1.0) * width;
  return rows;
}

/// Counts the places that are found in their rows, inside and outside of the range.
void count_in_row(const std::vector<Found>& all, PairFindings& findings) {
  std::vector<int> disparities;
  for (const Found& found : all) {
    const Match& beyond = found.above.correlation > found.below.correlation ? found.above : found.below;
    const bool outside = beyond.correlation > found.inside.correlation + kClearlyBetter;
    const Match& best = outside ? beyond : found.inside;
    if (best.correlation < kFound) continue;
    ++findings.in_row;
    if (outside) ++(&beyond == &found.above ? findings.above_max : findings.below_min);
    if (outside) disparities.push_back(best.disparity);
  }
  if (disparities.empty()) return;
  std::ranges::sort(disparities);
  findings.least = disparities[disparities.size() / 10];
  findings.greatest = disparities[disparities.size() - 1 - disparities.size() / 10];
}

template <class T>
PairFindings check(const ImageView<const T>& left, const ImageView<const T>& right, DisparityRange range) {
  PairFindings findings;
  if (left.width < kSide || left.height < kSide) return findings;
  std::vector<PatchPlace> places = places_of(left);
  findings.textured = !places.empty() && !places_of(right).empty();
  if (!findings.textured) return findings;
  const auto bound = static_cast<std::size_t>(std::max(kMaxWork / range.count, 2 * kMinPlaces));
  const std::size_t step = (places.size() + bound - 1) / bound;
  std::vector<PatchPlace> some;
  for (std::size_t i = 0; i < places.size(); i += step) some.push_back(places[i]);
  std::vector<Found> all(some.size());
  parallel_for(static_cast<int>(some.size()), [&](int i) {
    check_interrupted();
    all[i] = find(left, right, some[i], range);
  });
  findings.tried = static_cast<int>(all.size());
  findings.found = static_cast<int>(std::ranges::count_if(all, [](const Found& it) {
    return std::max({it.in_rows.correlation, it.below.correlation, it.above.correlation}) >= kFound;
  }));
  if (findings.found < kMinFound * findings.tried) return findings;
  findings.rows = rows_of(all, left.width);
  count_in_row(all, findings);
  return findings;
}

bool is_same(ImageView<const std::uint8_t> a, ImageView<const std::uint8_t> b) {
  for (int y = 0; y < a.height; ++y)
    if (!std::equal(a.row(y), a.row(y) + a.width, b.row(y))) return false;
  return true;
}

}  // namespace

PairFindings check_pair(const GreyPair& images, DisparityRange range) {
  PairFindings findings = images.left16.data ? check(images.left16, images.right16, range)
                                             : check(images.left, images.right, range);
  findings.same = is_same(images.left, images.right);
  return findings;
}

std::string scene_warning(const PairFindings& findings) {
  if (findings.tried < kMinPlaces || findings.found >= kHardlyFound * findings.tried) return {};
  return fmt::format(
      "hardly anything of the left image is found in the right one: {} of {} places; the images are not "
      "rectified, or do not show the same scene, with texture",
      findings.found, findings.tried);
}

std::string rows_warning(const PairFindings& findings, int width) {
  if (!findings.rows) return {};
  const auto [offset, across, places] = *findings.rows;
  if (std::abs(across) >= kAcross)
    return fmt::format(
        "the rows of the images do not correspond: from the left side to the right, those of the right image "
        "become {:.0f} pixels {} ({} places): one image is turned by about {:.1f} degrees; rectify them",
        std::abs(across), across > 0 ? "lower" : "higher", places,
        std::abs(std::atan2(across, width)) * 180 / std::numbers::pi);
  if (std::abs(offset) >= kOffRows)
    return fmt::format(
        "the rows of the images do not correspond: what the left image shows is {:.0f} row{} {} in the right "
        "one (median of {} places); rectify them",
        std::abs(offset), std::abs(offset) == 1 ? "" : "s", offset > 0 ? "lower" : "higher", places);
  return {};
}

std::string range_warning(const PairFindings& findings, DisparityRange range) {
  if (findings.in_row < kMinPlaces) return {};
  const int outside = findings.below_min + findings.above_max;
  if (outside < kOutside * findings.in_row) return {};
  const bool above = findings.above_max >= findings.below_min;
  return fmt::format(
      "{:.0f} % of {} places match clearly better outside of {} <= d < {}, at disparities of {} to {}: {}",
      100.0 * outside / findings.in_row, findings.in_row, range.min, range.min + range.count, findings.least,
      findings.greatest, above ? "raise --max-disparity" : "lower --min-disparity");
}

double searched_share(const PairPlan& plan) {
  const Region& region = plan.options.block.region;
  if (fused_stages(plan.options) != FusedStages::kBlocks || region.width == 0 || region.height == 0) return 1;
  return static_cast<double>(region.width) * region.height /
         (static_cast<double>(plan.size.width) * plan.size.height);
}

std::string doubts(const PairPlan& plan) {
  const DisparityRange range = plan.options.range;
  return fmt::format(
      "searched was {} <= d < {}; is that the range (--min-disparity, --max-disparity), are the images "
      "swapped, are they rectified, and are the filters right for them (--speckle, --uniqueness, "
      "--left-right)?",
      range.min, range.min + range.count);
}

}  // namespace recon
