// Eigen as all modules include it.

#include "core/eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

/// (1 + e)^2 - (1 + 2 e) is 0 where the square is rounded first, and e^2 by an FMA.
TEST(Eigen, RoundsProductsBeforeItAddsThem) {
  const double e = std::ldexp(1.0, -30);
  const Eigen::MatrixXd matrix = Eigen::Vector2d(-(1 + 2 * e), 1 + e).transpose().replicate(3, 1);
  const Eigen::VectorXd product = matrix * Eigen::VectorXd(Eigen::Vector2d(1, 1 + e));
  EXPECT_EQ(product, Eigen::VectorXd(Eigen::Vector3d::Zero()));
}

TEST(Eigen, RoundsProductsOfFloatsToo) {
  const float e = std::ldexp(1.0f, -13);
  const Eigen::MatrixXf matrix = Eigen::Vector2f(-(1 + 2 * e), 1 + e).transpose().replicate(5, 1);
  const Eigen::VectorXf product = matrix * Eigen::VectorXf(Eigen::Vector2f(1, 1 + e));
  EXPECT_EQ(product, Eigen::VectorXf(Eigen::VectorXf::Zero(5)));
}

}  // namespace
