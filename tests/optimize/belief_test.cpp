#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "optimize/belief/belief_propagation.hpp"
#include "optimize/belief/belief_step.hpp"

namespace recon {
namespace {

std::vector<float> message(const std::vector<float>& h, float cap) {
  MessageRising rising;
  std::vector<float> kept, sent(h.size());
  for (const float value : h) kept.push_back(rising.push(value));
  MessageFalling falling(rising.lowest, cap);
  for (std::size_t d = h.size(); d-- > 0;) sent[d] = falling.push(kept[d]);
  return sent;
}

TEST(BeliefStep, HandCheckedMessages) {
  EXPECT_EQ(message({3, 1, 7}, 10), (std::vector<float>{1, 0, 1})) << "cones of slope 1 around the lowest";
  EXPECT_EQ(message({0, 9, 9, 9, 9}, 2), (std::vector<float>{0, 1, 2, 2, 2})) << "cut off at the cap";
  EXPECT_EQ(message({5, 5, 5.5f, 2}, 10), (std::vector<float>{3, 2, 1, 0})) << "from the right";
  EXPECT_EQ(message({4}, 10), (std::vector<float>{0})) << "one disparity";
  EXPECT_EQ(message({2, 0.25f, 2}, 0), (std::vector<float>{0, 0, 0})) << "no smoothness";
}

TEST(BeliefStep, SumsInTheirOrder) {
  EXPECT_EQ(message_input(1, 10, 100, 1000), 1111.0f);
  EXPECT_EQ(message_input(1.0f, 1e8f, -1e8f, 2.0f), 3.0f) << "the sides first";
  EXPECT_EQ(belief_value(1, 10, 100, 1000, 10000), 11111.0f);
  EXPECT_EQ(belief_value(1.0f, 1.0f, 2.0f, 1e8f, -1e8f), 4.0f) << "each axis first";
}

/// The left pixel has no evidence of the disparity; the right pixel has, and its message decides.
TEST(PropagateBeliefs, TwoPixelsByHand) {
  BeliefOptions options;
  options.levels = 1;
  options.iterations = 2;
  options.smoothness_cap = 2;
  const std::vector<std::vector<float>> costs{{1, 1, 1}, {4, 3, 0}};
  const Image<std::uint16_t> winners =
      propagate_beliefs({2, 1, 3}, options, [&](const BeliefColumns& c, int d, float* to) {
        for (int i = 0; i < c.count; ++i)
          to[i] =
              costs[static_cast<std::size_t>(2 * (c.first + i) + c.x_parity)][static_cast<std::size_t>(d)];
      });
  // Iteration 0 updates x = 1: its message to the left is min(cone of {4, 3, 0}, 2) = {2, 1, 0}.
  EXPECT_EQ(winners(0, 0), 2);
  EXPECT_EQ(winners(1, 0), 2);
}

TEST(PropagateBeliefs, TiesGoToTheLowestDisparity) {
  const Image<std::uint16_t> winners =
      propagate_beliefs({5, 4, 7}, {}, [](const BeliefColumns& c, int, float* to) {
        for (int i = 0; i < c.count; ++i) to[i] = 2.0f;
      });
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) EXPECT_EQ(winners(x, y), 0);
}

TEST(BeliefPyramid, LevelsEndAtOnePixelAndShareOneArena) {
  BeliefOptions options;
  options.levels = 20;
  const BeliefPyramid pyramid = belief_pyramid({5, 3, 16}, options);
  ASSERT_EQ(pyramid.levels.size(), 4u);
  std::ptrdiff_t end = 0;
  for (const BeliefLevel& level : pyramid.levels) {
    EXPECT_EQ(level.pitch % 32, 0);
    EXPECT_EQ(level.costs, end);
    for (const std::ptrdiff_t begin : level.messages) {
      end += level.size();
      EXPECT_EQ(begin, end);
    }
    end += level.size();
  }
  EXPECT_EQ(pyramid.elements, end);
  EXPECT_EQ(pyramid.levels[1].width, 3);
  EXPECT_EQ(pyramid.levels[1].height, 2);
  EXPECT_EQ(pyramid.levels[3].width, 1);
}

TEST(BeliefOptions, RefusesWhatHasNoMeaning) {
  const auto refuses = [](auto change) {
    BeliefOptions options;
    change(options);
    EXPECT_THROW(check_belief({4, 4, 4}, options), std::logic_error);
  };
  refuses([](BeliefOptions& o) { o.levels = 0; });
  refuses([](BeliefOptions& o) { o.iterations = 0; });
  refuses([](BeliefOptions& o) { o.data_weight = -1.0f; });
  refuses([](BeliefOptions& o) { o.data_cap = std::numeric_limits<float>::quiet_NaN(); });
  refuses([](BeliefOptions& o) { o.smoothness_cap = 70000.0f; });
  EXPECT_THROW(check_belief({4, 4, kMaxBeliefDisparities + 1}, {}), std::logic_error);
}

}  // namespace
}  // namespace recon
