#include "refine/prior_bend.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/eigen.hpp"
#include "core/quantile.hpp"

namespace recon {
namespace {

constexpr int kTerms = PriorBend::kTerms, kUnknowns = kTerms * kTerms + 1;
constexpr double kMargin = 0.25;               ///< around the image, as cosines are flat where they end
constexpr double kSmooth = 1e-6;               ///< weight of the squared second derivatives of the bend
constexpr int kCoarseRounds = 7, kRounds = 3;  ///< with some anchors, and then with all
constexpr double kMinScale = 0.004, kMaxScale = 0.05;  ///< relative errors that halve a weight

/// Least squares of the terms of the bend and of a change of the shift.
struct Equations {
  Eigen::Matrix<double, kUnknowns, kUnknowns> matrix = decltype(matrix)::Zero();
  Eigen::Matrix<double, kUnknowns, 1> right = decltype(right)::Zero();

  void add(const Equations& other, double factor = 1) {
    matrix += factor * other.matrix, right += factor * other.right;
  }
};

/// Sums over the anchors of a row, to which its cosines are multiplied once.
struct RowSums {
  Eigen::Matrix<double, kTerms, kTerms> terms = decltype(terms)::Zero();
  Eigen::Matrix<double, kTerms, 1> mixed = decltype(mixed)::Zero(), right = decltype(right)::Zero();
  double shift = 0, shift_right = 0;
  bool any = false;

  /// @param u, v  how the predicted inverse depth, relative to that of the anchor, changes with the bend and
  ///              the shift
  void add(const auto& cosines, double u, double v, double weight) {
    terms += weight * u * u * cosines * cosines.transpose();
    mixed += weight * u * v * cosines;
    right += weight * u * cosines;
    shift += weight * v * v, shift_right += weight * v;
    any = true;
  }

  void add_to(Equations& sum, const auto& row) const {
    if (!any) return;
    constexpr int kShift = kUnknowns - 1;
    for (int i = 0; i < kTerms; ++i) {
      for (int j = 0; j < kTerms; ++j)
        sum.matrix.template block<kTerms, kTerms>(kTerms * i, kTerms * j) += row(i) * row(j) * terms;
      sum.matrix.template block<kTerms, 1>(kTerms * i, kShift) += row(i) * mixed;
      sum.right.template segment<kTerms>(kTerms * i) += row(i) * right;
    }
    sum.matrix(kShift, kShift) += shift;
    sum.right(kShift) += shift_right;
  }
};

PriorBend::Cosines cosines(int size) {
  PriorBend::Cosines result(kTerms, size);
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < kTerms; ++k)
      result(k, i) = std::cos(std::numbers::pi * k * ((i + 0.5) / size + kMargin) / (1 + 2 * kMargin));
  return result;
}

/// A fit in progress.
class PriorBendFit {
 public:
  PriorBendFit(int width, int height, const std::vector<PriorAnchor>& anchors) : anchors_(anchors) {
    bend_.columns = cosines(width), bend_.rows = cosines(height);
    bend_.bend.setZero();
    bend_.bend(0, 0) = 1;
  }

  PriorBends fit() {
    start();
    const std::vector<PriorAnchor> some = some_of(anchors_);
    for (int round = 0; round < kCoarseRounds; ++round) bend_ = solved(all(equations(some)), some.size());
    for (int round = 1; round < kRounds; ++round) bend_ = solved(all(equations(anchors_)), anchors_.size());
    const std::array<Equations, kPriorFolds> parts = equations(anchors_);
    const Equations sum = all(parts);
    const auto without = [&](int fold) {
      Equations others = sum;
      others.add(parts[fold], -1);
      return solved(others, anchors_.size());
    };
    return {solved(sum, anchors_.size()), {without(0), without(1), without(2), without(3), without(4)}};
  }

 private:
  /// The start: the scale and the shift by which half of the priors are as spread as the inverse depths.
  void start() {
    std::vector<double> priors, inverse_depths;
    for (const PriorAnchor& it : anchors_)
      priors.push_back(it.prior), inverse_depths.push_back(it.inverse_depth);
    const auto spread = [](std::vector<double>& values) {
      return quantile(values, 0.75) - quantile(values, 0.25);
    };
    const double of_priors = spread(priors);
    bend_.scale = of_priors > 0 ? spread(inverse_depths) / of_priors : 0;
    bend_.shift = quantile(inverse_depths, 0.5) - bend_.scale * quantile(priors, 0.5);
  }

  double error_of(const PriorAnchor& it) const {
    return bend_.inverse_depth(it.x, it.y, it.prior) / it.inverse_depth - 1;
  }

  /// The equations of each part, weighted by the errors of the bend so far.
  std::array<Equations, kPriorFolds> equations(const std::vector<PriorAnchor>& anchors) const {
    std::vector<double> errors;
    for (const PriorAnchor& it : anchors) errors.push_back(std::abs(error_of(it)));
    std::vector<double> ordered = errors;
    const double scale = std::clamp(2 * quantile(ordered, 0.5), kMinScale, kMaxScale);
    std::array<Equations, kPriorFolds> result;
    for (std::size_t i = 0; i < anchors.size();) {
      const int y = anchors[i].y;
      const auto row = bend_.rows.col(y);
      const Eigen::Matrix<double, 1, kTerms> factors = row.transpose() * bend_.bend;
      std::array<RowSums, kPriorFolds> sums;
      for (; i < anchors.size() && anchors[i].y == y; ++i) {
        const PriorAnchor& it = anchors[i];
        const auto column = bend_.columns.col(it.x);
        sums[it.fold].add(column, (bend_.scale * it.prior + bend_.shift) / it.inverse_depth,
                          factors.dot(column) / it.inverse_depth,
                          it.weight / (1 + std::pow(errors[i] / scale, 2)));
      }
      for (int fold = 0; fold < kPriorFolds; ++fold) sums[fold].add_to(result[fold], row);
    }
    return result;
  }

  static Equations all(const std::array<Equations, kPriorFolds>& parts) {
    Equations sum;
    for (const Equations& part : parts) sum.add(part);
    return sum;
  }

  /// The bend that solves the equations, kept smooth where they have no anchors.
  PriorBend solved(Equations it, std::size_t anchors) const {
    constexpr int kShift = kUnknowns - 1;
    for (int i = 0; i < kTerms; ++i)
      for (int j = 0; j < kTerms; ++j) {
        const int at = kTerms * i + j, frequency = i * i + j * j;
        it.matrix(at, at) += kSmooth * frequency * frequency * static_cast<double>(anchors) + 1e-9;
      }
    it.matrix(kShift, kShift) += 1e-6 * it.matrix(kShift, kShift) + 1e-30;
    it.matrix.row(kShift) = it.matrix.col(kShift).transpose();
    const Eigen::Matrix<double, kUnknowns, 1> solution = it.matrix.ldlt().solve(it.right);
    PriorBend result = bend_;
    for (int i = 0; i < kTerms; ++i) result.bend.row(i) = solution.segment<kTerms>(kTerms * i).transpose();
    result.shift += solution(kShift);
    return result;
  }

  const std::vector<PriorAnchor>& anchors_;
  PriorBend bend_;
};

}  // namespace

std::vector<PriorAnchor> some_of(const std::vector<PriorAnchor>& anchors) {
  constexpr std::size_t kFew = 4000;
  if (anchors.size() < kFew) return anchors;
  std::vector<PriorAnchor> some;
  // Each column and each row of pixels has some.
  for (const PriorAnchor& it : anchors)
    if ((it.x / kAnchorStep + 2 * (it.y / kAnchorStep)) % 5 == 0) some.push_back(it);
  return some;
}

PriorBends fit_bends(int width, int height, const std::vector<PriorAnchor>& anchors) {
  return PriorBendFit(width, height, anchors).fit();
}

}  // namespace recon
