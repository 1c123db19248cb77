#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuse/fusion.hpp"
#include "reference/fusion_reference.hpp"

namespace recon {

/// The maps of a view that a test owns and changes.
struct OwnedMaps {
  Image<float> depth;
  Image<Vec3f> normal;
  Image<float> confidence;
  Image<Rgb8> colour;
};

inline FusionMaps views_of(const std::shared_ptr<const OwnedMaps>& maps) {
  return {maps->depth.view(), maps->normal.view(), maps->confidence.view(), maps->colour.view(), {maps}, {}};
}

/// Parallel cameras in front of the plane z = 2; view i is at x = 0.1 i.
struct PlaneViews : FusionMapLoader {
  explicit PlaneViews(int count, int height = 30) {
    for (int i = 0; i < count; ++i) {
      FusionView view{{40, height, 40, 40, 20, 15}, {}, {}};
      view.cam_from_world.translation = {-0.1 * i, 0, 0};
      for (int j = 0; j < count; ++j)
        if (j != i) view.neighbours.push_back(j);
      views.push_back(view);
      auto m = std::make_shared<OwnedMaps>();
      m->depth = Image<float>(40, height, 2.0f);
      m->normal = Image<Vec3f>(40, height, Vec3f{0, 0, -1});
      m->confidence = Image<float>(40, height, 0.5f);
      m->colour = Image<Rgb8>(40, height, Rgb8{static_cast<std::uint8_t>(10 * i), 20, 30});
      maps.push_back(m);
    }
  }
  std::shared_ptr<const FusionMaps> load(int view) override {
    ++loads;
    const auto m = maps[static_cast<std::size_t>(view)];
    if (!m) return nullptr;
    return std::make_shared<const FusionMaps>(views_of(m));
  }
  DepthView depth_view(int i) const {
    const auto k = static_cast<std::size_t>(i);
    return {views[k].camera, views[k].cam_from_world, maps[k]->depth.view(), maps[k]->normal.view(),
            maps[k]->confidence.view()};
  }

  std::vector<FusionView> views;
  std::vector<std::shared_ptr<OwnedMaps>> maps;
  int loads = 0;
};

/// Collects all points, and fails where a slot is not used as PointSink says.
struct Collected : PointSink {
  void reserve(int count) override {
    for (const auto& slot : slots) EXPECT_FALSE(slot) << "a slot is not free";
    slots.resize(static_cast<std::size_t>(count));
  }
  void keep(int slot, std::span<const FusedRow> rows) override {
    auto& kept = slots.at(static_cast<std::size_t>(slot));
    EXPECT_FALSE(kept) << "slot " << slot << " is not free";
    kept.emplace();
    for (const FusedRow& row : rows)
      row.visit([&](const FusedPoint& point, std::span<const std::uint32_t> views) {
        kept->push_back({point, {views.begin(), views.end()}});
      });
  }
  void add(int slot) override {
    auto& kept = slots.at(static_cast<std::size_t>(slot));
    ASSERT_TRUE(kept) << "nothing is in slot " << slot;
    points.insert(points.end(), kept->begin(), kept->end());
    kept.reset();
  }
  std::vector<std::optional<std::vector<reference::CloudPoint>>> slots;
  std::vector<reference::CloudPoint> points;
};

}  // namespace recon
