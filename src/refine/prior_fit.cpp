#include "refine/prior_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/pixels.hpp"
#include "core/quantile.hpp"

namespace recon {
namespace {

constexpr int kCell = 16;        ///< pixels
constexpr int kFolds = 5;        ///< parts of the anchors, each of which the others predict
constexpr int kFoldCells = 3;    ///< side of the blocks of cells that are in the same part
constexpr int kRounds = 4;       ///< of weighting
constexpr int kStep = 2;         ///< pixels between the anchors that are used, in both directions
constexpr double kScale = 0.02;  ///< relative error at which the weight of an anchor is a half
constexpr double kRidge = 8;     ///< anchors as which the coarser cells count

/// Weighted sums over anchors: of the weight, the prior p, the inverse depth w, p * p and p * w.
struct Moments {
  double n = 0, p = 0, w = 0, pp = 0, pw = 0;

  void add(const Moments& m, double weight = 1) {
    n += weight * m.n, p += weight * m.p, w += weight * m.w, pp += weight * m.pp, pw += weight * m.pw;
  }
};

/// w = scale * p + shift.
struct Line {
  double scale = 0, shift = 0;

  double at(double p) const { return scale * p + shift; }
};

using MomentCells = Image<Moments>;

/// Each cell of the result is the sum of 2 x 2 cells.
MomentCells coarser(const MomentCells& cells) {
  MomentCells result((cells.width() + 1) / 2, (cells.height() + 1) / 2, Moments{});
  for (int y = 0; y < cells.height(); ++y)
    for (int x = 0; x < cells.width(); ++x) result(x / 2, y / 2).add(cells(x, y));
  return result;
}

/// The sums with those of the cells around, by a binomial window of 5 x 5.
Moments around(const MomentCells& cells, int x, int y) {
  constexpr std::array<double, 5> kWindow = {1.0 / 6, 2.0 / 3, 1, 2.0 / 3, 1.0 / 6};
  Moments sum;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      const int u = x + i, v = y + j;
      if (u >= 0 && v >= 0 && u < cells.width() && v < cells.height())
        sum.add(cells(u, v), kWindow[i + 2] * kWindow[j + 2]);
    }
  return sum;
}

/// The line at a place, bilinear between the centres of cells of `size`.
Line line_at(const Image<Line>& cells, double x, double y, double size) {
  const double u = std::clamp(x / size - 0.5, 0.0, cells.width() - 1.0),
               v = std::clamp(y / size - 0.5, 0.0, cells.height() - 1.0);
  const int x0 = static_cast<int>(u), y0 = static_cast<int>(v), x1 = std::min(x0 + 1, cells.width() - 1),
            y1 = std::min(y0 + 1, cells.height() - 1);
  const double a = u - x0, b = v - y0;
  Line line;
  for (const auto& [it, weight] :
       {std::pair(cells(x0, y0), (1 - a) * (1 - b)), std::pair(cells(x1, y0), a * (1 - b)),
        std::pair(cells(x0, y1), (1 - a) * b), std::pair(cells(x1, y1), a * b)})
    line.scale += weight * it.scale, line.shift += weight * it.shift;
  return line;
}

/// The line through all anchors, and the variance of their priors.
std::pair<Line, double> whole_line(const Moments& all) {
  if (!(all.n > 0)) return {};
  const double mean = all.p / all.n, variance = all.pp / all.n - mean * mean;
  const double covariance = all.pw / all.n - mean * all.w / all.n;
  // A prior that is constant but for rounding has no scale.
  if (!(variance > 1e-10 * mean * mean)) return {{0, all.w / all.n}, 0};
  const double scale = covariance / variance;
  return {{scale, all.w / all.n - scale * mean}, variance};
}

/// A line with what the anchors of a cell and around it say more.
Line refined(const Line& line, const Moments& m, double variance) {
  if (!(m.n > 0)) return line;
  const double mean = m.p / m.n;
  const double rest = m.w - line.scale * m.p - line.shift * m.n;
  const double rest_by_p = m.pw - line.scale * m.pp - line.shift * m.p;
  const double spread = m.pp - mean * m.p + kRidge * variance;
  const double scale = variance > 0 ? (rest_by_p - mean * rest) / spread : 0;
  return {line.scale + scale, line.shift + rest / (m.n + kRidge) - scale * mean};
}

/// The lines of all cells.
Image<Line> fit_lines(const MomentCells& cells) {
  std::vector<MomentCells> levels;
  levels.push_back(cells.clone());
  while (std::min(levels.back().width(), levels.back().height()) > 2)
    levels.push_back(coarser(levels.back()));
  Moments all;
  for (int y = 0; y < cells.height(); ++y)
    for (int x = 0; x < cells.width(); ++x) all.add(cells(x, y));
  const auto [whole, variance] = whole_line(all);
  Image<Line> lines(1, 1, whole);
  double size = 2 * std::max(levels.back().width(), levels.back().height());
  for (auto level = levels.rbegin(); level != levels.rend(); ++level, size = 2) {
    Image<Line> finer(level->width(), level->height());
    for (int y = 0; y < finer.height(); ++y)
      for (int x = 0; x < finer.width(); ++x)
        finer(x, y) = refined(line_at(lines, x + 0.5, y + 0.5, size), around(*level, x, y), variance);
    lines = std::move(finer);
  }
  return lines;
}

/// The part of the anchors that a cell belongs to.
int fold_of(int column, int row) {
  return (column / kFoldCells + 2 * (row / kFoldCells)) % kFolds;
}

/// The sums of the cells of all parts but one.
MomentCells without(const MomentCells& cells, int fold) {
  MomentCells others = cells.clone();
  for (int y = 0; y < others.height(); ++y)
    for (int x = 0; x < others.width(); ++x)
      if (fold_of(x, y) == fold) others(x, y) = {};
  return others;
}

/// A prior and anchors of a view.
class Anchors {
 public:
  Anchors(ImageView<const float> prior, ImageView<const float> anchor)
      : prior_(prior), anchor_(anchor), weight_(prior.width, prior.height, 1.0f) {
    ignore_far_values();
  }

  /// Calls `visit(x, y)` for the anchors that are used where the prior has a value.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (int y = 0; y < prior_.height; y += kStep)
      for (int x = 0; x < prior_.width; x += kStep)
        if (!std::isnan(anchor_(x, y)) && !std::isnan(prior_(x, y))) visit(x, y);
  }

  /// The sums of the cells, where `moments(x, y)` are those of an anchor.
  template <class MomentsOf>
  MomentCells sums(const MomentsOf& moments) const {
    MomentCells cells((prior_.width + kCell - 1) / kCell, (prior_.height + kCell - 1) / kCell, Moments{});
    visit([&](int x, int y) { cells(x / kCell, y / kCell).add(moments(x, y), weight_(x, y)); });
    return cells;
  }

  MomentCells sums_with_prior() const {
    return sums([&](int x, int y) {
      const auto p = static_cast<double>(prior_(x, y)), w = 1 / static_cast<double>(anchor_(x, y));
      return Moments{1, p, w, p * p, p * w};
    });
  }

  /// Weights anchors by how well lines predict them.
  void weight_by(const Image<Line>& lines) {
    visit([&](int x, int y) {
      const double error = error_of(lines, x, y) / kScale;
      weight_(x, y) = static_cast<float>(1 / (1 + error * error));
    });
  }

  double inverse_depth(const Image<Line>& lines, int x, int y) const {
    return line_at(lines, x + 0.5, y + 0.5, kCell).at(static_cast<double>(prior_(x, y)));
  }

  double error_of(const Image<Line>& lines, int x, int y) const {
    return std::abs(inverse_depth(lines, x, y) * static_cast<double>(anchor_(x, y)) - 1);
  }

  /// The errors of the anchors of each part as the others predict them; NaN elsewhere.
  Image<float> errors(const MomentCells& cells) const {
    std::array<Image<Line>, kFolds> lines;
    for (int fold = 0; fold < kFolds; ++fold) lines[fold] = fit_lines(without(cells, fold));
    Image<float> errors(prior_.width, prior_.height, kUnknown);
    visit([&](int x, int y) {
      errors(x, y) = static_cast<float>(error_of(lines[fold_of(x / kCell, y / kCell)], x, y));
    });
    return errors;
  }

  /// The share of the anchors whose error is small.
  double right(const Image<float>& errors) const {
    std::ptrdiff_t all = 0, right = 0;
    visit([&](int x, int y) { ++all, right += errors(x, y) <= PriorFit::kRight ? 1 : 0; });
    return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
  }

 private:
  /// A single value far from all others would decide the first fit.
  void ignore_far_values() {
    std::vector<float> values;
    visit([&](int x, int y) { values.push_back(prior_(x, y)); });
    if (values.empty()) return;
    const float low = quantile(values, 0.02), high = quantile(values, 0.98), margin = high - low;
    visit([&](int x, int y) {
      if (prior_(x, y) < low - margin || prior_(x, y) > high + margin) weight_(x, y) = 0;
    });
  }

  const ImageView<const float> prior_, anchor_;
  Image<float> weight_;
};

}  // namespace

PriorFit fit_prior(ImageView<const float> prior, ImageView<const float> anchor) {
  EXPECTS(prior.width == anchor.width && prior.height == anchor.height);
  Anchors anchors(prior, anchor);
  for (int round = 0; round < kRounds; ++round) anchors.weight_by(fit_lines(anchors.sums_with_prior()));
  const MomentCells sums = anchors.sums_with_prior();
  const Image<Line> lines = fit_lines(sums);
  const Image<float> errors = anchors.errors(sums);
  PriorFit fit;
  fit.right = anchors.right(errors);
  fit.right_flat = anchors.right(anchors.errors(mapped<Moments>(sums, [](const Moments& m) {
    return Moments{m.n, 0, m.w, 0, 0};
  })));
  const Image<Line> mean_errors = fit_lines(anchors.sums([&](int x, int y) {
    const double error =
        std::min(static_cast<double>(errors(x, y)), static_cast<double>(PriorFit::kMaxError));
    return Moments{1, 0, error, 0, 0};
  }));
  fit.depth = Image<float>(prior.width, prior.height, kUnknown);
  fit.error = Image<float>(prior.width, prior.height, kUnknown);
  parallel_for(prior.height, [&](int y) {
    for (int x = 0; x < prior.width; ++x) {
      const double inverse = std::isnan(prior(x, y)) ? 0 : anchors.inverse_depth(lines, x, y);
      if (!(inverse > 0)) continue;
      fit.depth(x, y) = static_cast<float>(1 / inverse);
      fit.error(x, y) = static_cast<float>(line_at(mean_errors, x + 0.5, y + 0.5, kCell).shift);
    }
  });
  return fit;
}

}  // namespace recon
