#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "core/quantile.hpp"
#include "scene/corner_matches.hpp"
#include "session/diagnose/photo_check.hpp"
#include "session/products/masks.hpp"

namespace recon {

namespace {

/// Max share of the pixels with a depth.
constexpr double kNoDepth = 0.01;
/// Min share of the pixels that masks leave, for a photo to say something.
constexpr double kMinSeen = 0.01;
/// Between the quantiles at one and 99 hundredths a photo of one colour has at most so many grey levels, and
/// a black one none above, a white one none below these.
constexpr double kTail = 0.01;
constexpr int kOneColour = 16, kBlack = 32, kWhite = 223;
/// Max corners of a photo without detail.
constexpr std::size_t kNoDetail = 3;

/// What the views of a photo show, made small.
struct Content {
  std::vector<std::uint8_t> levels;  ///< of the pixels that masks leave
  std::size_t pixels = 0, corners = 0;
};

void add_content(SceneProducts& products, int view, Content& content) {
  const Pinhole& camera = products.plan.view(view).camera;
  const int factor = small_view_factor(camera.width, camera.height);
  const auto channels = products.photos.channels(products.plan, view);
  const Image<std::uint8_t> grey = averaged(channels->front().view(), factor);
  Image<std::uint8_t> mask = prepared_mask(products, view);
  if (!mask.empty()) mask = averaged(mask.view(), factor);
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x)
      if (mask.empty() || mask(x, y) == 255) content.levels.push_back(grey(x, y));
  content.pixels += static_cast<std::size_t>(grey.width()) * static_cast<std::size_t>(grey.height());
  content.corners += find_corners({{}, {}, grey.view(), mask.view()}).size();
}

}  // namespace

std::string what_is_empty(SceneProducts& products, const std::vector<int>& views) {
  Content content;
  for (const int view : views) add_content(products, view, content);
  if (static_cast<double>(content.levels.size()) <= kMinSeen * static_cast<double>(content.pixels)) return {};
  const int low = quantile(content.levels, kTail), high = quantile(content.levels, 1 - kTail);
  if (high - low > kOneColour) return content.corners <= kNoDetail ? "without any detail" : "";
  if (high <= kBlack) return "black";
  return low >= kWhite ? "white" : "of one colour";
}

void name_empty_photos(SceneProducts& products, const std::string& scene, Findings& findings) {
  std::map<std::string, std::vector<int>> without_depth;
  for (const int view : products.plan.active_views()) {
    if (products.result(Step::kEstimate, view) == nullptr) continue;
    without_depth[products.plan.scene_view(view).photo_name()].push_back(view);
  }
  std::erase_if(without_depth, [&](const auto& photo) {
    return std::ranges::any_of(
        photo.second, [&](int view) { return products.known_share(Step::kEstimate, view) >= kNoDepth; });
  });
  std::map<std::string, std::vector<std::string>> empty;
  for (const auto& [photo, views] : without_depth)
    if (const std::string what = what_is_empty(products, views); !what.empty()) empty[what].push_back(photo);
  for (const auto& [what, photos] : empty)
    findings.warn(
        photos.size() == 1
            ? fmt::format("{}: its photo is {}, so that it has no depths; replace the photo, or remove "
                          "the view",
                          photos.front(), what)
            : fmt::format("{}: {} photos are {}, so that their views have no depths, such as {}; replace "
                          "them, or remove the views",
                          scene, photos.size(), what, photos.front()));
  for (const auto& [what, photos] : empty) findings.doubted_views.insert(photos.begin(), photos.end());
}

}  // namespace recon
