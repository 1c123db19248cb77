// Priors fitted to known depths, against surfaces that are known everywhere.

#include "refine/prior_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kPriorWidth = 320, kPriorHeight = 240;

/// A floor, a wall with a step in it, and a ball before it.
float true_depth(int x, int y) {
  const double u = (x - 160) / 200.0, v = (y - 120) / 200.0;
  const double ball = 0.25 - (u + 0.3) * (u + 0.3) - v * v;
  if (ball > 0.21) return static_cast<float>(1.5 - ball);
  const double wall = x < 200 ? 4 + u : 3 + 0.5 * u, floor = v > 0 ? 0.9 / v : 1e9;
  return static_cast<float>(std::min(wall, floor));
}

Image<float> truth() {
  Image<float> depth(kPriorWidth, kPriorHeight);
  for (int y = 0; y < kPriorHeight; ++y)
    for (int x = 0; x < kPriorWidth; ++x) depth(x, y) = true_depth(x, y);
  return depth;
}

/// Depths that bend by up to a share, as inverse depths of another scale and shift.
Image<float> prior_of(const Image<float>& depth, double bend) {
  Image<float> prior(depth.width(), depth.height());
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) {
      const double bent = 1 + bend * std::sin(0.013 * x + 0.4) * std::cos(0.017 * y);
      prior(x, y) = static_cast<float>(7.3 * (1 / (bent * static_cast<double>(depth(x, y))) + 0.21));
    }
  return prior;
}

/// Three of four depths of strips, but for a hole.
Image<float> anchors_of(const Image<float>& depth) {
  Image<float> anchor(depth.width(), depth.height(), kUnknown);
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x)
      if (x % 4 > 0 && !(x > 120 && x < 190 && y > 40 && y < 100)) anchor(x, y) = depth(x, y);
  return anchor;
}

/// Of the pixels without an anchor.
double share_within(const PriorFit& fit, const Image<float>& anchor, const Image<float>& depth, float error) {
  double right = 0, all = 0;
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x)
      if (std::isnan(anchor(x, y))) all += 1, right += std::abs(fit.depth(x, y) / depth(x, y) - 1) <= error;
  return right / all;
}

TEST(PriorFit, OfAnotherScaleAndShiftGivesTheDepthsExactly) {
  const Image<float> depth = truth(), anchor = anchors_of(depth);
  const PriorFit fit = fit_prior(prior_of(depth, 0).view(), anchor.view());
  EXPECT_EQ(share_within(fit, anchor, depth, 1e-5f), 1);
  EXPECT_TRUE(fit.follows());
  EXPECT_EQ(fit.right, 1);
  EXPECT_LT(fit.right_flat, 0.5);
}

TEST(PriorFit, ThatBendsGivesTheDepthsOfHoles) {
  const Image<float> depth = truth(), anchor = anchors_of(depth);
  const PriorFit fit = fit_prior(prior_of(depth, 0.08).view(), anchor.view());
  EXPECT_GT(share_within(fit, anchor, depth, 0.01f), 0.93);  // 0.945; without the prior 0.4
  EXPECT_TRUE(fit.follows());
}

TEST(PriorFit, GivesTheDepthsFarFromAllAnchors) {
  const Image<float> depth = truth();
  Image<float> anchor = depth.clone();
  for (int y = 60; y < 180; ++y)
    for (int x = 90; x < 230; ++x) anchor(x, y) = kUnknown;
  const PriorFit fit = fit_prior(prior_of(depth, 0.08).view(), anchor.view());
  EXPECT_GT(share_within(fit, anchor, depth, 0.005f), 0.98);
}

TEST(PriorFit, FollowsAPriorOfWhichMostValuesAreOfOneSurface) {
  const Image<float> depth = truth();
  Image<float> anchor(kPriorWidth, kPriorHeight, kUnknown);
  for (int y = 0; y < kPriorHeight; ++y)
    for (int x = 0; x < kPriorWidth; ++x)
      if (y < 120 || (x * 7 + y * 13) % 17 == 0) anchor(x, y) = depth(x, y);
  const PriorFit fit = fit_prior(prior_of(depth, 0.1).view(), anchor.view());
  EXPECT_TRUE(fit.follows());
  EXPECT_GT(fit.right, 0.9);
}

TEST(PriorFit, IsNotMovedByWrongAnchors) {
  const Image<float> depth = truth();
  Image<float> anchor = anchors_of(depth);
  std::mt19937 random(1);
  for (int y = 0; y < kPriorHeight; ++y)
    for (int x = 0; x < kPriorWidth; ++x)
      if (random() % 8 == 0) anchor(x, y) *= 1.3f + static_cast<float>(random() % 100) / 50;
  const PriorFit fit = fit_prior(prior_of(depth, 0.05).view(), anchor.view());
  EXPECT_GT(share_within(fit, anchor, depth, 0.01f), 0.95);
}

TEST(PriorFit, ExpectsErrorsWhereThePriorIsOfSomethingElse) {
  const Image<float> depth = truth(), anchor = anchors_of(depth);
  Image<float> prior = prior_of(depth, 0);
  for (int y = 150; y < 210; ++y)
    for (int x = 20; x < 100; ++x)
      prior(x, y) = 7.3f * (0.2f + static_cast<float>((x * 7 + y * 13) % 50) / 100);
  const PriorFit fit = fit_prior(prior.view(), anchor.view());
  EXPECT_GT(fit.error(60, 180), 0.02f);
  EXPECT_LT(fit.error(260, 60), 1e-3f);
}

/// A part of the image where the prior is of something else, and says how sure it is.
struct UnsurePart {
  static constexpr int kEnd = 128;  ///< its columns

  Image<float> depth = truth(), anchor = anchors_of(depth), prior = prior_of(depth, 0);
  Image<float> confidence{kPriorWidth, kPriorHeight, 1.0f};

  explicit UnsurePart(float sure) {
    std::mt19937 random(3);
    for (int y = 0; y < kPriorHeight; ++y)
      for (int x = 0; x < kEnd; ++x) {
        prior(x, y) = 7.3f * (0.2f + static_cast<float>(random() % 50) / 100);
        confidence(x, y) = sure;
      }
  }
  PriorFit fit() const { return fit_prior(prior.view(), anchor.view(), confidence.view()); }
};

TEST(PriorFit, SaysNothingWhereThePriorIsNotSure) {
  for (const float sure : {0.0f, 0.05f, kUnknown}) {
    const UnsurePart part(sure);
    const PriorFit fit = part.fit();
    EXPECT_TRUE(fit.follows());
    EXPECT_EQ(fit.right, 1);
    EXPECT_TRUE(std::isnan(fit.depth(60, 100)));
    EXPECT_TRUE(std::isnan(fit.error(60, 100)));
    for (int y = 0; y < kPriorHeight; ++y)
      for (int x = UnsurePart::kEnd; x < kPriorWidth; ++x)
        ASSERT_NEAR(fit.depth(x, y) / part.depth(x, y), 1, 1e-5) << x << ", " << y;
  }
}

TEST(PriorFit, IsJudgedByWhatItIsSureOf) {
  EXPECT_FALSE(UnsurePart(1).fit().follows()) << UnsurePart(1).fit().right;
  const PriorFit fit = UnsurePart(0.15f).fit();
  EXPECT_TRUE(fit.follows()) << fit.right << " " << fit.right_flat;
  EXPECT_GT(fit.right, 0.85) << "by weights";
  EXPECT_FALSE(std::isnan(fit.depth(60, 100)));
  EXPECT_GT(fit.error(60, 100), 0.04f);
}

TEST(PriorFit, OfOneConfidenceIsThatWithout) {
  const Image<float> depth = truth(), anchor = anchors_of(depth), prior = prior_of(depth, 0.1);
  const Image<float> sure(kPriorWidth, kPriorHeight, 1.0f);
  const PriorFit with = fit_prior(prior.view(), anchor.view(), sure.view()),
                 without = fit_prior(prior.view(), anchor.view());
  EXPECT_EQ(with.right, without.right);
  for (int y = 0; y < kPriorHeight; ++y)
    ASSERT_TRUE(std::equal(with.depth.row(y), with.depth.row(y) + kPriorWidth, without.depth.row(y)));
}

TEST(PriorFit, DoesNotFollowWhatIsNotOfTheView) {
  const Image<float> depth = truth(), anchor = anchors_of(depth), prior = prior_of(depth, 0);
  Image<float> mirrored(kPriorWidth, kPriorHeight), noise(kPriorWidth, kPriorHeight),
      upside_down(kPriorWidth, kPriorHeight);
  std::mt19937 random(1);
  for (int y = 0; y < kPriorHeight; ++y)
    for (int x = 0; x < kPriorWidth; ++x) {
      mirrored(x, y) = prior(kPriorWidth - 1 - x, y);
      upside_down(x, y) = prior(x, kPriorHeight - 1 - y);
      noise(x, y) = static_cast<float>(random() % 1000);
    }
  EXPECT_FALSE(fit_prior(mirrored.view(), anchor.view()).follows());
  EXPECT_FALSE(fit_prior(upside_down.view(), anchor.view()).follows());
  EXPECT_FALSE(fit_prior(noise.view(), anchor.view()).follows());
  EXPECT_FALSE(fit_prior(Image<float>(kPriorWidth, kPriorHeight, 3.0f).view(), anchor.view()).follows());
  EXPECT_FALSE(fit_prior(Image<float>(kPriorWidth, kPriorHeight, kUnknown).view(), anchor.view()).follows());
  EXPECT_FALSE(fit_prior(prior.view(), Image<float>(kPriorWidth, kPriorHeight, kUnknown).view()).follows());
}

/// The bend alone predicts smooth depths.
TEST(PriorFit, DoesNotFollowWhatSaysNothingOfASmoothSurface) {
  Image<float> depth(kPriorWidth, kPriorHeight), noise(kPriorWidth, kPriorHeight);
  std::mt19937 random(1);
  for (int y = 0; y < kPriorHeight; ++y)
    for (int x = 0; x < kPriorWidth; ++x) {
      depth(x, y) = 1 / (0.25f + 0.25f * static_cast<float>(x) / kPriorWidth);
      noise(x, y) = static_cast<float>(random() % 1000);
    }
  const Image<float> anchor = anchors_of(depth);
  const Image<float> constant(kPriorWidth, kPriorHeight, 3.0f);
  for (const Image<float>* const prior : std::array<const Image<float>*, 2>{&constant, &noise}) {
    const PriorFit fit = fit_prior(prior->view(), anchor.view());
    EXPECT_FALSE(fit.follows()) << fit.right << " " << fit.right_flat;
  }
}

TEST(PriorFit, IsNotJudgedByAFewAnchors) {
  const Image<float> depth = truth(), prior = prior_of(depth, 0);
  Image<float> anchor(kPriorWidth, kPriorHeight, kUnknown);
  for (const auto& [x, y] : {std::pair(40, 40), std::pair(280, 200)}) anchor(x, y) = depth(x, y);
  const PriorFit fit = fit_prior(prior.view(), anchor.view());
  EXPECT_EQ(fit.anchors, 2);
  EXPECT_FALSE(fit.is_known());
  EXPECT_FALSE(fit.follows());
}

TEST(PriorFit, SaysNothingWhereThePriorHasNoValue) {
  const Image<float> depth = truth(), anchor = anchors_of(depth);
  Image<float> prior = prior_of(depth, 0);
  prior(150, 60) = kUnknown;
  prior(10, 10) = -1e6f;  // no depth follows from it
  const PriorFit fit = fit_prior(prior.view(), anchor.view());
  for (const auto& [x, y] : {std::pair(150, 60), std::pair(10, 10)}) {
    EXPECT_TRUE(std::isnan(fit.depth(x, y)));
    EXPECT_TRUE(std::isnan(fit.error(x, y)));
  }
  EXPECT_NEAR(fit.depth(151, 60), depth(151, 60), 1e-4);
}

TEST(PriorFit, TakesImagesOfAnySize) {
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(1, 40), std::pair(33, 1), std::pair(17, 65)}) {
    Image<float> prior(width, height), anchor(width, height, 2.0f);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) prior(x, y) = static_cast<float>(x + y);
    const PriorFit fit = fit_prior(prior.view(), anchor.view());
    EXPECT_NEAR(fit.depth(width - 1, height - 1), 2, 1e-3) << width << " x " << height;
  }
}

TEST(PriorFit, IsTheSameForAnyNumberOfThreads) {
  const Image<float> depth = truth(), anchor = anchors_of(depth), prior = prior_of(depth, 0.1);
  const auto fitted = [&](int threads) {
    return ThreadLimit(threads).run([&] { return fit_prior(prior.view(), anchor.view()); });
  };
  const PriorFit one = fitted(1), four = fitted(4);
  for (int y = 0; y < kPriorHeight; ++y)
    ASSERT_TRUE(std::equal(one.depth.row(y), one.depth.row(y) + kPriorWidth, four.depth.row(y)));
}

}  // namespace
}  // namespace recon
