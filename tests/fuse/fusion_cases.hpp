#pragma once

#include <memory>
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

/// Keeps all points.
struct Collected : PointSink {
  void add(const std::vector<FusedRow>& rows) override {
    for (const FusedRow& row : rows)
      row.visit([&](const FusedPoint& point, std::span<const std::uint32_t> views) {
        points.push_back({point, {views.begin(), views.end()}});
      });
  }
  std::vector<reference::CloudPoint> points;
};

}  // namespace recon
