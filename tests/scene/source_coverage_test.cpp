#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "scene/view_selection.hpp"

namespace recon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Every source tried in every step.
std::vector<int> greedy(const std::vector<std::vector<SampleScore>>& sources,
                        const std::vector<double>& weights, int count) {
  std::vector<double> covered(weights.size(), 0.0);
  std::vector<bool> taken(sources.size(), false);
  std::vector<int> order;
  for (int k = 0; k < count && k < static_cast<int>(sources.size()); ++k) {
    int best = -1;
    double most = -1;
    for (int i = 0; i < static_cast<int>(sources.size()); ++i) {
      double gain = 0;
      for (const auto& [sample, score] : sources[i])
        gain += weights[sample] * score / (0.3 + covered[sample]);
      if (!taken[i] && gain > most) best = i, most = gain;
    }
    taken[best] = true;
    order.push_back(best);
    for (const auto& [sample, score] : sources[best]) covered[sample] += score;
  }
  return order;
}

TEST(CoveringSources, EachAddsMostToWhatIsShown) {
  // The second shows two samples less well than the first, the third one that the first does not show.
  const std::vector<std::vector<SampleScore>> sources = {
      {{0, 1.0f}, {1, 1.0f}}, {{0, 0.8f}, {1, 0.8f}}, {{2, 0.9f}}};
  const std::vector<double> even = {1, 1, 1}, low = {1, 1, 0.4};
  EXPECT_THAT(covering_sources(sources, even, 3), ElementsAre(0, 2, 1));
  EXPECT_THAT(covering_sources(sources, low, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(covering_sources(sources, even, 1), ElementsAre(0));
  EXPECT_THAT(covering_sources(sources, even, 0), IsEmpty());
}

TEST(CoveringSources, AreThoseOfTryingAllInEveryStep) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const int samples = 1 + static_cast<int>(random() % 40);
    std::vector<std::vector<SampleScore>> sources(random() % 30);
    for (auto& source : sources)
      for (int s = 0; s < samples; ++s)
        if (random() % 3 == 0) source.push_back({s, static_cast<float>(random() % 5) / 4});  // with ties
    std::vector<double> weights(static_cast<std::size_t>(samples));
    for (double& weight : weights) weight = 1.0 / static_cast<double>(1 + random() % 3);
    for (const int count : {1, 5, 100})
      EXPECT_EQ(covering_sources(sources, weights, count), greedy(sources, weights, count));
  }
}

}  // namespace
}  // namespace recon
