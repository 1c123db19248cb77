#include "session/scene/prior_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "refine/prior_fit.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

/// The depths of planes, and those that sources confirm elsewhere.
Image<float> anchors_of(const ConfirmedView& view, ImageView<const float> planes) {
  Image<float> anchors(planes.width, planes.height);
  for (int y = 0; y < planes.height; ++y)
    for (int x = 0; x < planes.width; ++x) {
      anchors(x, y) = std::isnan(planes(x, y)) ? view.depth(x, y) : planes(x, y);
      if (std::isinf(anchors(x, y))) anchors(x, y) = kUnknown;
    }
  return anchors;
}

PriorFit fitted(const Prior& prior, ImageView<const float> anchors) {
  return fit_prior(prior.values.view(), anchors, prior.confidence.view());
}

/// Why a prior cannot be judged; empty: it has values.
std::string fault_of(const Prior& prior) {
  for (int y = 0; y < prior.values.height(); ++y)
    for (int x = 0; x < prior.values.width(); ++x)
      if (!std::isnan(prior.values(x, y))) return {};
  return prior.confidence.empty() ? "it has no values" : "none of its values is sure enough";
}

/// Whether a prior takes the place of a depth that sources confirm: photos are not sure of it, and the prior,
/// whose error is small there, says otherwise.
bool replaces(const PriorFit& fit, const ConfirmedView& view, int x, int y) {
  constexpr float kSure = 0.8f, kOther = 0.01f;
  return view.reliability(x, y) < kSure &&
         std::abs(view.depth(x, y) / fit.depth(x, y) - 1) > std::max(kOther, fit.error(x, y));
}

}  // namespace

PriorFits::PriorFits(PriorSource priors, PriorKind kind, const std::vector<ConfirmedView>& views, int at_once)
    : priors_(std::move(priors)), kind_(kind) {
  if (priors_.any && kind_ == PriorKind::kAuto) kind_ = better_kind(views, at_once);
}

std::string PriorFits::kind() const {
  return priors_.any ? word_of(kind_, prior_kinds()) : "";
}

PriorKind PriorFits::better_kind(const std::vector<ConfirmedView>& views, int at_once) const {
  std::vector<const ConfirmedView*> with_map, asked;
  for (const ConfirmedView& it : views)
    if (priors_.has(it.view)) with_map.push_back(&it);
  for (std::size_t i = 0; i < with_map.size(); i += (with_map.size() + kAsked - 1) / kAsked)
    asked.push_back(with_map[i]);
  std::vector<double> by_depth(asked.size()), by_inverse(asked.size());
  bounded_parallel_for(2 * static_cast<int>(asked.size()), at_once, [&](int i) {
    check_interrupted();
    const ConfirmedView& it = *asked[i / 2];
    const PriorKind kind = i % 2 == 0 ? PriorKind::kDepth : PriorKind::kInverse;
    (i % 2 == 0 ? by_depth : by_inverse)[i / 2] =
        if_readable([&] { return fitted(priors_.read(it.view, it.camera, kind), it.depth).right; }, 0.0);
  });
  const auto sum = [](const std::vector<double>& shares) {
    return std::accumulate(shares.begin(), shares.end(), 0.0);
  };
  return sum(by_depth) > sum(by_inverse) ? PriorKind::kDepth : PriorKind::kInverse;
}

Image<float> PriorFits::filling(const ConfirmedView& view, ImageView<const float> planes,
                                nlohmann::json& result) const {
  constexpr float kMaxError = 0.04f;
  if (!priors_.has(view.view)) return {};
  Prior prior;
  try {
    prior = priors_.read(view.view, view.camera, kind_);
  } catch (const InputError& error) {
    result = {{"fault", error.what()}};
    return {};
  }
  if (const std::string fault = fault_of(prior); !fault.empty()) {
    result = {{"fault", fault}};
    return {};
  }
  PriorFit fit = fitted(prior, anchors_of(view, planes).view());
  result = {{"used", fit.follows()}, {"filled", 0.0}};
  if (fit.is_known()) result.update({{"right", fit.right}, {"right_without", fit.right_flat}});
  if (!fit.follows()) return {};
  std::ptrdiff_t filled = 0;
  for (int y = 0; y < fit.depth.height(); ++y)
    for (int x = 0; x < fit.depth.width(); ++x) {
      const bool asked = std::isnan(view.depth(x, y)) || replaces(fit, view, x, y);
      if (!asked || !std::isnan(planes(x, y)) || !(fit.error(x, y) <= kMaxError)) fit.depth(x, y) = kUnknown;
      filled += std::isnan(fit.depth(x, y)) ? 0 : 1;
    }
  if (filled == 0) return {};
  result["filled"] = static_cast<double>(filled) / (static_cast<double>(planes.width) * planes.height);
  return std::move(fit.depth);
}

std::vector<std::string> unused_priors(const nlohmann::json& priors, const std::string& subject) {
  std::vector<std::string> texts;
  int unlike = 0, unknown = 0;
  std::string example, of_few;
  for (const auto& [view, prior] : priors.items()) {
    if (prior.contains("fault")) {
      texts.push_back(unused_prior_text(view, prior.value("fault", "")));
    } else if (prior.value("used", false)) {
      continue;
    } else if (!prior.contains("right")) {
      if (unknown++ == 0) of_few = view;
    } else {
      if (unlike++ > 0) continue;
      example =
          fmt::format("{}: it predicts {:.0f} % of the depths that are known, and a smooth surface {:.0f} %",
                      view, 100 * prior.value("right", 0.0), 100 * prior.value("right_without", 0.0));
    }
  }
  if (unknown > 0)
    texts.push_back(fmt::format(
        "{}the priors of {} of {} views are not used, as photos show too few depths by which to judge them, "
        "such as that of {}",
        subject, unknown, priors.size(), of_few));
  if (unlike > 0)
    texts.push_back(
        fmt::format("{}the priors of {} of {} views are not used, as they do not follow the depths, such as "
                    "{}; check that they are of these photos, and --prior-kind",
                    subject, unlike, priors.size(), example));
  return texts;
}

void report_priors(const nlohmann::json& result, const std::string& folder, Findings& findings) {
  const nlohmann::json priors = result.value("priors", nlohmann::json::object());
  const auto is_used = [](const nlohmann::json& prior) { return prior.value("used", false); };
  if (std::ranges::any_of(priors, is_used))
    messages().info("--prior-maps: the values follow the {}", result.value("prior_kind", "") == "inverse"
                                                                  ? "inverse depth"
                                                                  : result.value("prior_kind", ""));
  for (const std::string& text : unused_priors(priors, fmt::format("--prior-maps {}: ", folder)))
    findings.warn(text);
}

}  // namespace recon
