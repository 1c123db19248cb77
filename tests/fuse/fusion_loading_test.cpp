// When fusion loads the maps of views and lets go of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/error.hpp"
#include "fuse/fusion.hpp"
#include "fusion_cases.hpp"

namespace recon {
namespace {

TEST(Fuse, LeavesOutViewsWithoutMaps) {
  PlaneViews scene(3);
  scene.maps[1] = nullptr;
  Collected cloud;
  FusionOptions options;
  options.min_views = 2;
  options.spacing = 1;
  EXPECT_EQ(fuse(scene.views, scene, options, cloud), 36u * 30u);
  EXPECT_EQ(cloud.points.front().views, (std::vector<std::uint32_t>{0, 2}));
}

TEST(Fuse, ReleasesViewsThatAreNotLoadedAgain) {
  struct Watched : PlaneViews {
    Watched() : PlaneViews(6) {
      for (int i = 0; i < 6; ++i) {
        views[static_cast<std::size_t>(i)].neighbours.clear();
        for (const int j : {i - 1, i + 1})
          if (j >= 0 && j < 6) views[static_cast<std::size_t>(i)].neighbours.push_back(j);
      }
    }
    std::shared_ptr<const FusionMaps> load(int view) override {
      EXPECT_EQ(std::count(released.begin(), released.end(), view), 0) << "view " << view;
      last_loaded = std::max(last_loaded, view);
      return PlaneViews::load(view);
    }
    void release(int view) override {
      released.push_back(view);
      EXPECT_EQ(last_loaded, std::min(view + 2, 5)) << "view " << view << " is released at once";
    }
    std::vector<int> released;
    int last_loaded = -1;
  } views;
  FusionOptions options;
  options.max_cached_views = 2;
  Collected cloud;
  fuse(views.views, views, options, cloud);
  EXPECT_EQ(views.released, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

/// Views in a row, each with those beside it, of which one is loaded at a time.
struct Row : PlaneViews {
  explicit Row(int count) : PlaneViews(count) {
    for (int i = 0; i < count; ++i)
      views[static_cast<std::size_t>(i)].neighbours = i == 0 ? std::vector{1} : std::vector{i - 1, i + 1};
    views.back().neighbours.pop_back();
  }
  std::shared_ptr<const FusionMaps> load(int view) override {
    EXPECT_FALSE(loading.exchange(true));
    if (view == fails) throw InputError("a damaged map");
    auto result = PlaneViews::load(view);
    last_loaded = std::max(last_loaded.load(), view);
    loading = false;
    return result;
  }
  std::atomic<bool> loading = false;
  std::atomic<int> last_loaded = -1;
  int fails = -1;
};

/// Waits for what a view after the next one needs, but not forever.
struct WaitingSink : Collected {
  explicit WaitingSink(const Row& row) : row_(row) {}
  void add(int slot) override {
    Collected::add(slot);
    const int needed = std::min(static_cast<int>(points.back().views.front()) + 2, 5);
    for (int tries = 0; tries < 300 && row_.last_loaded < needed; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ahead = ahead && row_.last_loaded >= needed;
  }
  const Row& row_;
  bool ahead = true;
};

TEST(Fuse, LoadsWhatTheNextViewNeedsMeanwhile) {
  FusionOptions options;
  options.min_views = 1;
  Row without(6), with(6);
  Collected expected;
  fuse(without.views, without, options, expected);
  options.reads_ahead = true;
  WaitingSink cloud(with);
  fuse(with.views, with, options, cloud);
  EXPECT_TRUE(cloud.ahead);
  EXPECT_EQ(with.loads, 6);
  ASSERT_EQ(cloud.points.size(), expected.points.size());
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    ASSERT_EQ(cloud.points[i].position.x, expected.points[i].position.x);
    ASSERT_EQ(cloud.points[i].views, expected.points[i].views);
  }
}

TEST(Fuse, LoadsNothingAheadThatItCannotHold) {
  FusionOptions options;
  options.min_views = 1;
  options.reads_ahead = true;
  options.max_cached_views = 3;  // a view and those beside it, but not those of the next
  Row row(6);
  struct Watching : Collected {
    void add(int slot) override {
      Collected::add(slot);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const int view = static_cast<int>(points.back().views.front());
      EXPECT_LE(row->last_loaded, view + (view == 0 ? 2 : 1));
    }
    const Row* row = nullptr;
  } cloud;
  cloud.row = &row;
  fuse(row.views, row, options, cloud);
  EXPECT_GT(cloud.points.size(), 0u);
}

TEST(Fuse, EndsWithTheErrorOfWhatItLoadsMeanwhile) {
  FusionOptions options;
  options.min_views = 1;
  options.reads_ahead = true;
  Row row(6);
  row.fails = 4;
  Collected cloud;
  EXPECT_THROW(fuse(row.views, row, options, cloud), InputError);
}

/// Maps of which pages can be dropped.
struct DroppedViews : PlaneViews {
  using PlaneViews::PlaneViews;
  std::shared_ptr<const FusionMaps> load(int view) override {
    FusionMaps result = *PlaneViews::load(view);
    result.drop_pages = [this] { ++drops; };
    return std::make_shared<const FusionMaps>(std::move(result));
  }
  int drops = 0;
};

TEST(Fuse, DropsPagesEveryFewRowsAndGivesTheSamePoints) {
  constexpr int kHeight = 5 * kRowsBetweenDrops;
  for (const int spacing : {1, 2}) {
    FusionOptions options;
    options.spacing = spacing;
    Collected kept, dropped;
    PlaneViews scene(3, kHeight);
    DroppedViews files(3, kHeight);
    fuse(scene.views, scene, options, kept);
    fuse(files.views, files, options, dropped);
    ASSERT_GT(kept.points.size(), 100u);
    ASSERT_EQ(kept.points.size(), dropped.points.size());
    for (std::size_t i = 0; i < kept.points.size(); ++i) {
      EXPECT_EQ(kept.points[i].position.x, dropped.points[i].position.x);
      EXPECT_EQ(kept.points[i].position.y, dropped.points[i].position.y);
      EXPECT_EQ(kept.points[i].views, dropped.points[i].views);
    }
    // Each view and its two neighbours, for each phase.
    EXPECT_GE(files.drops, 3 * 3 * kHeight * spacing / kRowsBetweenDrops) << "spacing " << spacing;
  }
}

}  // namespace
}  // namespace recon
