#include "optimize/graph_cut/graph_cut.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "reference/graph_cut_reference.hpp"
#include "reference/stereo_sets.hpp"
#include "reference/sweep_problems.hpp"

namespace recon {
namespace {

using reference::GridField;
using reference::hashed;
using reference::Labels;
using reference::labels_of;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// All labels, one graph.
GraphCutOptions plain(float smoothness, int cap, int falloff = 0) {
  return {smoothness, cap, falloff, 0, 0, 0, 1000};
}

/// Integers below `range`; if `forbidden`, a fifth is infinite, but never label 0.
Volume<float> random_costs(int width, int height, int labels, int range, bool forbidden, std::uint32_t seed) {
  Volume<float> costs(width, labels, height);
  std::uint32_t i = 0;
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < labels; ++d)
      for (int x = 0; x < width; ++x) {
        costs.view()(x, y, d) = std::floor(static_cast<float>(hashed(seed, ++i) * range));
        if (forbidden && d > 0 && hashed(seed + 1, i) < 0.2) costs.view()(x, y, d) = kInfinity;
      }
  return costs;
}

Image<std::uint8_t> random_guide(int width, int height) {
  Image<std::uint8_t> guide(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) guide(x, y) = static_cast<std::uint8_t>(x / 3 * 37 ^ y / 4 * 29);
  return guide;
}

Image<std::uint16_t> to_image(const Labels& labels, int width, int height) {
  Image<std::uint16_t> image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      image(x, y) = static_cast<std::uint16_t>(labels[static_cast<std::size_t>(y * width + x)]);
  return image;
}

TEST(GraphCutStep, ByHand) {
  EXPECT_EQ(label_distance(3, 7, 2), 2.0f);
  EXPECT_EQ(label_distance(7, 6, 2), 1.0f);
  EXPECT_EQ(label_distance(7, 6, 1), 1.0f);
  EXPECT_EQ(edge_smoothness(20.0f, 0, 200), 20.0f);
  EXPECT_EQ(edge_smoothness(20.0f, 16, 16), 10.0f);
  EXPECT_EQ(energy_step(255.0f), std::ldexp(1.0f, -14));
  EXPECT_EQ(energy_step(256.0f), std::ldexp(1.0f, -13));
  EXPECT_EQ(energy_step(0.0f), 1.0f);
  EXPECT_EQ(to_energy(0.3f, 0.25f), 0.25f);
}

TEST(GraphCutStep, PairsOfAnExpansionCostWhatTheyShould) {
  // f_p = 2, f_q = 5, alpha = 4, K = 2: V = 2, 2 (q takes it), 1 (p takes it), 0 (both).
  const ExpansionPair pair = expansion_pair(2, 2, 1);
  EXPECT_EQ(pair.capacity, 2 - 1);
  EXPECT_EQ(2 + pair.p, 1);
  EXPECT_EQ(2 + pair.q + pair.capacity, 2);
  EXPECT_EQ(2 + pair.p + pair.q, 0);
}

TEST(GraphCut, ThreePixelsByHand) {
  // The middle pixel prefers label 1 by 3; each neighbour of another label costs 2.
  Volume<float> costs(3, 2, 1);
  const float given[3][2] = {{0, 9}, {3, 0}, {0, 9}};
  for (int x = 0; x < 3; ++x)
    for (int d = 0; d < 2; ++d) costs.view()(x, 0, d) = given[x][d];
  Image<std::uint16_t> labels = to_image({0, 1, 0}, 3, 1);
  graph_cut(costs.view(), {}, plain(2, 1), labels.view());
  EXPECT_EQ(labels_of(labels.view()), Labels({0, 0, 0}));
  const GridField field = reference::grid_field(costs.view(), {}, plain(2, 1));
  EXPECT_EQ(reference::energy_of(field, {0, 1, 0}), 4);
  EXPECT_EQ(reference::energy_of(field, {0, 0, 0}), 3);
}

TEST(GraphCut, NoExpansionOfTinyFieldsLowersItsEnergy) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed)
    for (const int cap : {1, 2}) {
      const Volume<float> costs = random_costs(3, 2, 3, 12, seed % 2 == 0, seed);
      const GridField field = reference::grid_field(costs.view(), {}, plain(3, cap));
      const Labels winners = reference::winners_of(field);
      Image<std::uint16_t> labels = to_image(winners, 3, 2);
      graph_cut(costs.view(), {}, plain(3, cap), labels.view());
      const double after = reference::energy_of(field, labels_of(labels.view()));
      EXPECT_EQ(after, reference::min_energy_of_expansions(field, labels_of(labels.view())));
      EXPECT_GE(after, reference::min_energy(field));
      EXPECT_LE(after, reference::energy_of(field, winners));
    }
}

struct Shape {
  int width, height, labels;
};

class GraphCutShapes : public testing::TestWithParam<Shape> {
 protected:
  int width_ = GetParam().width, height_ = GetParam().height, count_ = GetParam().labels;
  Image<std::uint8_t> guide_ = random_guide(width_, height_);
};

TEST_P(GraphCutShapes, PlainIsTheTextbook) {
  // The weights 12 falloff / (falloff + g) are integers for few g only: so no guide, and many ties.
  for (const int range : {4, 40}) {
    const Volume<float> costs = random_costs(width_, height_, count_, range, true, 5);
    const GraphCutOptions options = plain(6, 3);
    const GridField field = reference::grid_field(costs.view(), {}, options);
    const Labels winners = reference::winners_of(field);
    Image<std::uint16_t> labels = to_image(winners, width_, height_);
    graph_cut(costs.view(), {}, options, labels.view());
    EXPECT_EQ(labels_of(labels.view()), reference::expanded(field, winners));
  }
}

TEST_P(GraphCutShapes, EnergyNeverRises) {
  const Volume<float> costs = random_costs(width_, height_, count_, 50, true, 8);
  for (const GraphCutOptions& options :
       {GraphCutOptions{9.7f, 2, 16, 2, 1, 4, 50}, GraphCutOptions{9.7f, 1, 5, 1, 0, 3, 50},
        GraphCutOptions{0, 2, 16, 2, 1, 2, 50}, GraphCutOptions{30, 9, 3, 0, 0, 5, 1}}) {
    const GridField field = reference::grid_field(costs.view(), guide_.view(), options);
    const Labels winners = reference::winners_of(field);
    Image<std::uint16_t> labels = to_image(winners, width_, height_);
    graph_cut(costs.view(), guide_.view(), options, labels.view());
    // A term is rounded to half a step: at most 2^-22 of 270.
    const double rounding = 3.0 * width_ * height_ * 270 * std::ldexp(1.0, -22);
    EXPECT_LE(reference::energy_of(field, labels_of(labels.view())),
              reference::energy_of(field, winners) + 2 * rounding);
  }
}

TEST_P(GraphCutShapes, AnyNumberOfThreadsGivesTheSameLabels) {
  const Volume<float> costs = random_costs(width_, height_, count_, 50, false, 9);
  const GraphCutOptions options{9.7f, 2, 16, 2, 2, 4, 50};
  const Labels winners = reference::winners_of(reference::grid_field(costs.view(), {}, options));
  Labels first;
  for (const int threads : {1, 2, 5}) {
    Image<std::uint16_t> labels = to_image(winners, width_, height_);
    ThreadLimit(threads).run([&] { graph_cut(costs.view(), guide_.view(), options, labels.view()); });
    if (threads == 1) first = labels_of(labels.view());
    EXPECT_EQ(labels_of(labels.view()), first) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GraphCutShapes,
                         testing::Values(Shape{1, 1, 1}, Shape{1, 1, 7}, Shape{1, 19, 7}, Shape{19, 1, 7},
                                         Shape{33, 17, 1}, Shape{33, 17, 7}, Shape{13, 21, 16},
                                         Shape{20, 9, 100}));

TEST(GraphCut, UnknownPixelsStayAndCostNothing) {
  Volume<float> costs = random_costs(9, 7, 4, 20, false, 11);
  for (int d = 0; d < 4; ++d) costs.view()(4, 3, d) = d % 2 == 0 ? kInfinity : std::nanf("");
  Image<std::uint16_t> labels(9, 7, 1);
  labels(4, 3) = kNoLabel;
  graph_cut(costs.view(), {}, {50, 2, 0, 2, 1, 0, 50}, labels.view());
  EXPECT_EQ(labels(4, 3), kNoLabel);
  // Between unknown pixels, each pixel takes its own min-cost label.
  Image<std::uint16_t> board(9, 7, kNoLabel);
  for (int y = 0; y < 7; ++y)
    for (int x = (y + 1) % 2; x < 9; x += 2) board(x, y) = 0;
  costs = random_costs(9, 7, 4, 20, true, 12);
  graph_cut(costs.view(), {}, plain(50, 2), board.view());
  const Labels winners = reference::winners_of(reference::grid_field(costs.view(), {}, plain(50, 2)));
  for (int y = 0; y < 7; ++y)
    for (int x = (y + 1) % 2; x < 9; x += 2)
      EXPECT_EQ(board(x, y), winners[static_cast<std::size_t>(y * 9 + x)]);
}

TEST(GraphCut, FlatCostsAndNoCostsAtAllKeepWhatIsSmooth) {
  for (const float cost : {0.0f, 7.0f}) {
    Volume<float> costs(12, 5, 10);
    for (int y = 0; y < 10; ++y)
      for (int d = 0; d < 5; ++d) std::fill_n(costs.view().row(y, d), 12, cost);
    Image<std::uint16_t> labels(12, 10, 3);
    const Labels flat = labels_of(labels.view());
    graph_cut(costs.view(), {}, {5, 2, 0, 2, 1, 4, 50}, labels.view());
    EXPECT_EQ(labels_of(labels.view()), flat);
    labels(5, 5) = 1;
    graph_cut(costs.view(), {}, {5, 2, 0, 2, 1, 4, 50}, labels.view());
    EXPECT_EQ(labels_of(labels.view()), flat);
  }
}

TEST(GraphCut, RestrictedLabelsAreThoseOfThePixelsAround) {
  // The smooth label 2 is cheap for the outer pixels; the middle one gets it only from them.
  Volume<float> costs(3, 4, 1);
  const float given[3][4] = {{9, 9, 0, 9}, {0, 9, 4, 9}, {9, 9, 0, 9}};
  for (int x = 0; x < 3; ++x)
    for (int d = 0; d < 4; ++d) costs.view()(x, 0, d) = given[x][d];
  Image<std::uint16_t> alone = to_image({2, 0, 2}, 3, 1), together = alone.clone();
  graph_cut(costs.view(), {}, {5, 2, 0, 1, 0, 0, 50}, alone.view());
  EXPECT_EQ(alone(1, 0), 0);
  graph_cut(costs.view(), {}, {5, 2, 0, 1, 1, 0, 50}, together.view());
  EXPECT_EQ(together(1, 0), 2);
}

TEST(GraphCut, RefusesWhatItCannotDo) {
  const Volume<float> costs = random_costs(3, 2, 3, 9, false, 1);
  Image<std::uint16_t> labels(3, 2, 0), large(3, 3, 0);
  EXPECT_THROW(graph_cut(costs.view(), {}, plain(-1, 1), labels.view()), std::logic_error);
  EXPECT_THROW(graph_cut(costs.view(), {}, plain(1, 0), labels.view()), std::logic_error);
  EXPECT_THROW(graph_cut(costs.view(), {}, {1, 1, 0, 0, 0, 1, 9}, labels.view()), std::logic_error);
  EXPECT_THROW(graph_cut(costs.view(), {}, plain(1, 1), large.view()), std::logic_error);
  labels(1, 1) = 3;
  EXPECT_THROW(graph_cut(costs.view(), {}, plain(1, 1), labels.view()), std::logic_error);
}

/// Absolute differences of the pixels of a rectangle of Tsukuba, 20 at most; empty when the set is absent.
Volume<float> tsukuba_costs(int left, int top, int width, int height) {
  constexpr int kDisparities = 16;
  const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo" / "tsukuba";
  if (!std::filesystem::exists(folder)) return {};
  const StereoSet set = read_stereo_set(folder);
  if (width == 0) width = set.left.width();
  if (height == 0) height = set.left.height();
  Volume<float> costs(width, kDisparities, height);
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < kDisparities; ++d)
      for (int x = 0; x < width; ++x) {
        const int column = left + x, row = top + y;
        costs.view()(x, y, d) =
            column < d
                ? 20.0f
                : std::min(20.0f,
                           static_cast<float>(std::abs(set.left(column, row) - set.right(column - d, row))));
      }
  return costs;
}

TEST(GraphCut, PlainOnARectangleOfTsukubaIsTheTextbook) {
  // The lamp and the head; the textbook takes two minutes for the whole image.
  const Volume<float> costs = tsukuba_costs(150, 90, 80, 60);
  if (costs.width() == 0) GTEST_SKIP() << "Tsukuba is absent";
  const GridField field = reference::grid_field(costs.view(), {}, plain(20, 2));
  const Labels winners = reference::winners_of(field);
  const double expected = reference::energy_of(field, reference::expanded(field, winners));
  Image<std::uint16_t> labels = to_image(winners, costs.width(), costs.height());
  graph_cut(costs.view(), {}, plain(20, 2), labels.view());
  EXPECT_LT(expected, 0.8 * reference::energy_of(field, winners));
  EXPECT_EQ(reference::energy_of(field, labels_of(labels.view())), expected);
}

TEST(GraphCut, TsukubaInBandsIsNearlyAsGoodAsPlain) {
  const Volume<float> costs = tsukuba_costs(0, 0, 0, 0);
  if (costs.width() == 0) GTEST_SKIP() << "Tsukuba is absent";
  const GridField field = reference::grid_field(costs.view(), {}, plain(20, 2));
  const Labels winners = reference::winners_of(field);
  Image<std::uint16_t> labels = to_image(winners, costs.width(), costs.height());
  graph_cut(costs.view(), {}, plain(20, 2), labels.view());
  const double whole = reference::energy_of(field, labels_of(labels.view()));
  labels = to_image(winners, costs.width(), costs.height());
  graph_cut(costs.view(), {}, GraphCutOptions{20, 2, 0}, labels.view());
  EXPECT_LE(reference::energy_of(field, labels_of(labels.view())), 1.002 * whole);
}

}  // namespace
}  // namespace recon
