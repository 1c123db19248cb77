#pragma once

#include <span>
#include <utility>
#include <vector>

#include "scene/map_agreement.hpp"

namespace recon {

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
