#include "refine/prior_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "refine/prior_bend.hpp"

namespace recon {
namespace {

constexpr int kCell = 16;          ///< pixels
constexpr int kFoldCells = 3;      ///< side of the blocks of cells that are in the same part
constexpr double kScale = 0.02;    ///< relative error at which the weight of an anchor is a half
constexpr double kRidge = 8;       ///< anchors as which the coarser cells count
constexpr double kBendRidge = 64;  ///< the same for errors of a bend, which is smooth itself

/// A weighted sum of values.
struct Sum {
  double weight = 0, value = 0;

  void add(const Sum& other, double factor = 1) {
    weight += factor * other.weight, value += factor * other.value;
  }
};

using Sums = Image<Sum>;

/// A value of an anchor, which counts little if its relative error is above the scale.
Sum weighted(const PriorAnchor& anchor, double value, double error, double scale) {
  const double weight = anchor.weight / (1 + std::pow(error / scale, 2));
  return {weight, weight * value};
}

/// Each cell of the result is the sum of 2 x 2 cells.
Sums coarser(const Sums& cells) {
  Sums result((cells.width() + 1) / 2, (cells.height() + 1) / 2, Sum{});
  for (int y = 0; y < cells.height(); ++y)
    for (int x = 0; x < cells.width(); ++x) result(x / 2, y / 2).add(cells(x, y));
  return result;
}

/// The sum with those of the cells around, by a binomial window of 5 x 5.
Sum around(const Sums& cells, int x, int y) {
  constexpr std::array<double, 5> kWindow = {1.0 / 6, 2.0 / 3, 1, 2.0 / 3, 1.0 / 6};
  Sum sum;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      const int u = x + i, v = y + j;
      if (u >= 0 && v >= 0 && u < cells.width() && v < cells.height())
        sum.add(cells(u, v), kWindow[i + 2] * kWindow[j + 2]);
    }
  return sum;
}

/// The value at a place, bilinear between the centres of cells of `size`.
double value_at(const Image<double>& cells, double x, double y, double size) {
  const double u = std::clamp(x / size - 0.5, 0.0, cells.width() - 1.0),
               v = std::clamp(y / size - 0.5, 0.0, cells.height() - 1.0);
  const int x0 = static_cast<int>(u), y0 = static_cast<int>(v), x1 = std::min(x0 + 1, cells.width() - 1),
            y1 = std::min(y0 + 1, cells.height() - 1);
  const double a = u - x0, b = v - y0;
  return (1 - b) * ((1 - a) * cells(x0, y0) + a * cells(x1, y0)) +
         b * ((1 - a) * cells(x0, y1) + a * cells(x1, y1));
}

/// Local means: coarse to fine, cells of twice the size and around a cell count as far as it has few values.
/// @param mean  where there are none
Image<double> local_means(const Sums& cells, double mean, double ridge) {
  std::vector<Sums> levels;
  levels.push_back(cells.clone());
  while (std::min(levels.back().width(), levels.back().height()) > 2)
    levels.push_back(coarser(levels.back()));
  Image<double> means(1, 1, mean);
  double size = 2 * std::max(levels.back().width(), levels.back().height());
  for (auto level = levels.rbegin(); level != levels.rend(); ++level, size = 2) {
    Image<double> finer(level->width(), level->height());
    for (int y = 0; y < finer.height(); ++y)
      for (int x = 0; x < finer.width(); ++x) {
        const double before = value_at(means, x + 0.5, y + 0.5, size);
        const Sum sum = around(*level, x, y);
        finer(x, y) = before + (sum.value - before * sum.weight) / (sum.weight + ridge);
      }
    means = std::move(finer);
  }
  return means;
}

/// The part of the anchors that a pixel belongs to.
int fold_of(int x, int y) {
  constexpr int kBlock = kCell * kFoldCells;
  return (x / kBlock + 2 * (y / kBlock)) % kPriorFolds;
}

/// Whether a prior says something at a pixel.
bool says_something(ImageView<const float> prior, ImageView<const float> confidence, int x, int y) {
  return !std::isnan(prior(x, y)) && (confidence.empty() || confidence(x, y) >= PriorFit::kMinConfidence);
}

/// The anchors that are used where the prior has a value. A single value far from all others would decide the
/// first fit, and is left out.
std::vector<PriorAnchor> used_anchors(ImageView<const float> prior, ImageView<const float> anchor,
                                      ImageView<const float> confidence) {
  std::vector<PriorAnchor> anchors;
  std::vector<double> values;
  for (int y = 0; y < prior.height; y += kAnchorStep)
    for (int x = 0; x < prior.width; x += kAnchorStep) {
      if (std::isnan(anchor(x, y)) || !says_something(prior, confidence, x, y)) continue;
      anchors.push_back({x, y, static_cast<double>(prior(x, y)), 1 / static_cast<double>(anchor(x, y)),
                         fold_of(x, y), confidence.empty() ? 1 : static_cast<double>(confidence(x, y))});
      values.push_back(anchors.back().prior);
    }
  if (anchors.empty()) return anchors;
  const double low = quantile(values, 0.02), high = quantile(values, 0.98), margin = high - low;
  std::erase_if(anchors,
                [&](const PriorAnchor& it) { return it.prior < low - margin || it.prior > high + margin; });
  return anchors;
}

/// A bend and what anchors say of it around them.
class LocalFit {
 public:
  /// @param fold  the part of the anchors that has no say, or kPriorFolds
  LocalFit(const PriorBend& bend, int width, int height, const std::vector<PriorAnchor>& anchors, int fold)
      : bend_(bend) {
    Sums sums((width + kCell - 1) / kCell, (height + kCell - 1) / kCell, Sum{});
    for (const PriorAnchor& it : anchors) {
      const double bent = bend.inverse_depth(it.x, it.y, it.prior);
      if (it.fold == fold || !(bent > 0)) continue;
      const double ratio = it.inverse_depth / bent - 1;
      sums(it.x / kCell, it.y / kCell).add(weighted(it, ratio, ratio, kScale));
    }
    ratios_ = local_means(sums, 0, kBendRidge);
  }

  double inverse_depth(int x, int y, double prior) const {
    return bend_.inverse_depth(x, y, prior) * (1 + value_at(ratios_, x + 0.5, y + 0.5, kCell));
  }

 private:
  const PriorBend& bend_;
  Image<double> ratios_;
};

/// The relative errors of the anchors where those of other parts predict them.
std::vector<double> held_out_errors(const PriorBends& bends, int width, int height,
                                    const std::vector<PriorAnchor>& anchors) {
  std::vector<double> errors(anchors.size());
  for (int fold = 0; fold < kPriorFolds; ++fold) {
    const LocalFit fit(bends.without[fold], width, height, anchors, fold);
    for (std::size_t i = 0; i < anchors.size(); ++i)
      if (anchors[i].fold == fold)
        errors[i] = std::abs(
            fit.inverse_depth(anchors[i].x, anchors[i].y, anchors[i].prior) / anchors[i].inverse_depth - 1);
  }
  return errors;
}

/// The same of a smooth surface through the anchors, without the prior.
std::vector<double> held_out_errors_of_surface(int width, int height,
                                               const std::vector<PriorAnchor>& anchors) {
  std::vector<double> errors(anchors.size());
  for (int fold = 0; fold < kPriorFolds; ++fold) {
    Sums sums((width + kCell - 1) / kCell, (height + kCell - 1) / kCell, Sum{});
    Sum all;
    for (const PriorAnchor& it : anchors)
      if (it.fold != fold)
        for (Sum* const sum : {&sums(it.x / kCell, it.y / kCell), &all})
          sum->add({it.weight, it.weight * it.inverse_depth});
    const Image<double> surface = local_means(sums, all.weight > 0 ? all.value / all.weight : 0, kRidge);
    for (std::size_t i = 0; i < anchors.size(); ++i)
      if (anchors[i].fold == fold)
        errors[i] = std::abs(
            value_at(surface, anchors[i].x + 0.5, anchors[i].y + 0.5, kCell) / anchors[i].inverse_depth - 1);
  }
  return errors;
}

/// Some of the anchors, as of a prior without content.
std::vector<PriorAnchor> without_prior(const std::vector<PriorAnchor>& anchors) {
  std::vector<PriorAnchor> result = some_of(anchors);
  for (PriorAnchor& it : result) it.prior = 0;
  return result;
}

/// The share of the anchors, by their weights, that are predicted.
double share_right(const std::vector<PriorAnchor>& anchors, const std::vector<double>& errors) {
  double right = 0, all = 0;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    all += anchors[i].weight;
    if (errors[i] <= PriorFit::kRight) right += anchors[i].weight;
  }
  return right / all;
}

/// The errors that are expected, by those of anchors.
Image<double> expected_errors(int width, int height, const std::vector<PriorAnchor>& anchors,
                              const std::vector<double>& errors) {
  Sums sums((width + kCell - 1) / kCell, (height + kCell - 1) / kCell, Sum{});
  Sum all;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const double error = std::min(errors[i], static_cast<double>(PriorFit::kMaxError));
    const Sum sum = weighted(anchors[i], error, error, 2 * kScale);
    sums(anchors[i].x / kCell, anchors[i].y / kCell).add(sum), all.add(sum);
  }
  return local_means(sums, all.value / all.weight, kRidge);
}

}  // namespace

PriorFit fit_prior(ImageView<const float> prior, ImageView<const float> anchor,
                   ImageView<const float> confidence) {
  EXPECTS(prior.width == anchor.width && prior.height == anchor.height);
  EXPECTS(confidence.empty() || (prior.width == confidence.width && prior.height == confidence.height));
  const int width = prior.width, height = prior.height;
  PriorFit fit{.depth = Image<float>(width, height, kUnknown),
               .error = Image<float>(width, height, kUnknown)};
  const std::vector<PriorAnchor> anchors = used_anchors(prior, anchor, confidence);
  fit.anchors = static_cast<int>(anchors.size());
  if (anchors.empty()) return fit;
  const PriorBends bends = fit_bends(width, height, anchors);
  const std::vector<double> errors = held_out_errors(bends, width, height, anchors);
  fit.right = share_right(anchors, errors);
  fit.right_flat = share_right(anchors, held_out_errors_of_surface(width, height, anchors));
  // The bend alone is a smooth surface, too.
  if (const std::vector<PriorAnchor> flat = without_prior(anchors); fit.follows() && !flat.empty())
    fit.right_flat =
        std::max(fit.right_flat,
                 share_right(flat, held_out_errors(fit_bends(width, height, flat), width, height, flat)));
  const LocalFit whole(bends.all, width, height, anchors, kPriorFolds);
  const Image<double> expected = expected_errors(width, height, anchors, errors);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      if (!says_something(prior, confidence, x, y)) continue;
      const double inverse = whole.inverse_depth(x, y, static_cast<double>(prior(x, y)));
      if (!(inverse > 0)) continue;
      fit.depth(x, y) = static_cast<float>(1 / inverse);
      fit.error(x, y) = static_cast<float>(value_at(expected, x + 0.5, y + 0.5, kCell));
    }
  });
  return fit;
}

}  // namespace recon
