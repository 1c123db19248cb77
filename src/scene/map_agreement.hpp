#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "scene/depth_check.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A view with a depth map of any resolution.
struct ComparedView {
  Pinhole camera;
  Pose cam_from_world;
  Image<float> map;  ///< in the shape of the camera's image; NaN: unknown
};

/// What the maps of all views are taken for.
struct MapReading {
  DepthMeaning meaning = DepthMeaning::kDepth;  ///< without a shift
  double scale = 1;
  MapLayout layout = MapLayout::kUpright;
  int next = 0;  ///< each is that of so many views further, of the next one
};

/// How well the map of a view agrees with those of others.
struct MapAgreement {
  bool judged = false;   ///< places that two maps know are enough; else nothing is said
  double agreeing = 0;   ///< the share of them that agrees, ...
  double by_chance = 0;  ///< ... and with the depths of other places
  bool fits = true;      ///< in half of its pairs, perhaps with other scales
  double own_scale = 1;  ///< with which it agrees much better; 1: none
};

/// What the maps of views are, by comparison with each other.
struct MapsVerdict {
  std::size_t samples = 0;
  MapReading reading;               ///< with which they agree much better than as they are
  double agreeing = 0;              ///< the share of places that agrees with that ...
  double as_given = 0;              ///< ... and as they are
  std::vector<MapAgreement> views;  ///< with `reading`
};

/// Of two views that do not have the map of each other.
inline constexpr std::pair<int, int> kNotExchanged = {-1, -1};

/// The share of places in the maps of the references of pairs that agree with their sources.
/// @param exchanged  two views of which each has the map of the other
double agreeing_share(std::span<const ComparedView> views, std::span<const std::pair<int, int>> pairs,
                      const MapReading& reading, std::pair<int, int> exchanged = kNotExchanged);

/// Compares the maps of pairs of views (indices of `views`) with each other: whether they agree as they are,
/// times a scale between 1e-4 and 1e4, as distances, inverse depths, mirrored or turned, or as maps of the
/// next views; and each with a scale of its own. Views that agree under many scales, as without a baseline,
/// are right. Deterministic.
MapsVerdict judge_maps(std::span<const ComparedView> views, std::span<const std::pair<int, int>> pairs);

/// Two views of which each has the map of the other.
struct ExchangedMaps {
  int first = 0, second = 0;
  double agreeing = 0, as_given = 0;  ///< shares of the places of their pairs: exchanged, and as they are
};

/// Looks among the views that agree with others less than the best for two whose maps, exchanged, agree
/// much better, those of each of them. Deterministic.
/// @param verdict  of the same views and pairs
std::vector<ExchangedMaps> find_exchanged_maps(std::span<const ComparedView> views,
                                               std::span<const std::pair<int, int>> pairs,
                                               const MapsVerdict& verdict);

}  // namespace recon
