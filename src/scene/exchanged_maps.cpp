#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/quantile.hpp"
#include "scene/map_agreement.hpp"

namespace recon {

namespace {

/// Views are looked at that agree on less than this share of what the best do, so many of them, the worst
/// ones. Those beside exchanged maps agree less as well.
constexpr double kOfBest = 0.8, kBestViews = 0.9;
constexpr std::size_t kMostSuspects = 16;
/// Share of the places that has to agree with exchanged maps, and by which factor it has to be more.
constexpr double kExchangeExplains = 0.3, kExchangeBetter = 2;

/// The views that agree less, worst first.
std::vector<int> suspects_of(const MapsVerdict& verdict) {
  std::vector<double> shares;
  std::vector<int> suspects;
  for (const MapAgreement& view : verdict.views)
    if (view.judged) shares.push_back(view.agreeing);
  if (shares.empty()) return suspects;
  const double best = quantile(shares, kBestViews);
  for (std::size_t i = 0; i < verdict.views.size(); ++i)
    if (verdict.views[i].judged && verdict.views[i].agreeing < kOfBest * best)
      suspects.push_back(static_cast<int>(i));
  std::ranges::stable_sort(suspects, {}, [&](int view) { return verdict.views[view].agreeing; });
  suspects.resize(std::min(suspects.size(), kMostSuspects));
  return suspects;
}

using ViewPairs = std::vector<std::pair<int, int>>;

ViewPairs pairs_with(int view, std::span<const std::pair<int, int>> all) {
  ViewPairs pairs;
  for (const auto& it : all)
    if (it.first == view || it.second == view) pairs.push_back(it);
  return pairs;
}

}  // namespace

std::vector<ExchangedMaps> find_exchanged_maps(std::span<const ComparedView> views,
                                               std::span<const std::pair<int, int>> pairs,
                                               const MapsVerdict& verdict) {
  std::vector<ExchangedMaps> found;
  std::vector<int> suspects = suspects_of(verdict);
  if (suspects.size() < 2) return found;
  const auto try_exchange = [&](int a, int b) {
    const ViewPairs of_a = pairs_with(a, pairs), of_b = pairs_with(b, pairs);
    const auto share = [&](const ViewPairs& its, std::pair<int, int> exchanged) {
      return agreeing_share(views, its, verdict.reading, exchanged);
    };
    const double a_as_given = share(of_a, kNotExchanged), b_as_given = share(of_b, kNotExchanged);
    const double a_exchanged = share(of_a, {a, b}), b_exchanged = share(of_b, {a, b});
    const bool explains = a_exchanged > std::max(kExchangeExplains, kExchangeBetter * a_as_given) &&
                          b_exchanged > std::max(kExchangeExplains, kExchangeBetter * b_as_given);
    return ExchangedMaps{a, b, explains ? (a_exchanged + b_exchanged) / 2 : 0, (a_as_given + b_as_given) / 2};
  };
  std::vector<ExchangedMaps> tried;
  for (std::size_t i = 0; i < suspects.size(); ++i)
    for (std::size_t j = i + 1; j < suspects.size(); ++j)
      tried.push_back(try_exchange(std::min(suspects[i], suspects[j]), std::max(suspects[i], suspects[j])));
  std::ranges::stable_sort(tried, std::greater(), &ExchangedMaps::agreeing);
  for (const ExchangedMaps& it : tried)
    if (it.agreeing > 0 && std::ranges::none_of(found, [&](const ExchangedMaps& other) {
          return it.first == other.first || it.first == other.second || it.second == other.first ||
                 it.second == other.second;
        }))
      found.push_back(it);
  return found;
}

}  // namespace recon
