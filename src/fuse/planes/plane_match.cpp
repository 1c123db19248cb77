#include "fuse/planes/plane_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace recon {
namespace {

constexpr int kWindowReach = 4, kWindowStep = 2;                 ///< of a window, pixels
constexpr int kWindowSide = 2 * kWindowReach / kWindowStep + 1;  ///< samples of a row
constexpr float kSamples = kWindowSide * kWindowSide;
constexpr float kMinVariance = 25;  ///< of a window with texture, squares of grey levels

/// The grey levels of a window less their mean, and the sum of their squares.
struct Window {
  std::array<float, kWindowSide * kWindowSide> grey;
  float energy = 0;

  void centre() {
    float sum = 0;
    for (const float g : grey) sum += g;
    for (float& g : grey) g -= sum / kSamples;
    energy = 0;
    for (const float g : grey) energy += g * g;
  }
  bool has_texture() const { return energy > kMinVariance * kSamples; }
};

Window reference_window(ImageView<const std::uint8_t> image, int x, int y) {
  Window window;
  std::size_t i = 0;
  for (int v = y - kWindowReach; v <= y + kWindowReach; v += kWindowStep)
    for (int u = x - kWindowReach; u <= x + kWindowReach; u += kWindowStep) window.grey[i++] = image(u, v);
  window.centre();
  return window;
}

float interpolated(ImageView<const std::uint8_t> image, float x, float y) {
  const int u = static_cast<int>(x), v = static_cast<int>(y);
  const float a = x - static_cast<float>(u), b = y - static_cast<float>(v);
  const std::uint8_t *upper = image.row(v) + u, *lower = image.row(v + 1) + u;
  const float above = static_cast<float>(upper[0]) + a * static_cast<float>(upper[1] - upper[0]);
  const float below = static_cast<float>(lower[0]) + a * static_cast<float>(lower[1] - lower[0]);
  return above + b * (below - above);
}

/// The window of a source that a homography, taken as affine in it, maps that of the reference to. Not
/// constant in the image: false.
bool source_window(const PlaneView& source, const PlaneHomography& plane, int x, int y, Window& window) {
  const Vec3d centre = plane.homogeneous(pixel_centre(x, y));
  if (!(centre.z > 0)) return false;
  const double u = centre.x / centre.z, v = centre.y / centre.z;
  const Mat3d& h = plane.h;
  const float ux = static_cast<float>((h(0, 0) - u * h(2, 0)) / centre.z),
              uy = static_cast<float>((h(0, 1) - u * h(2, 1)) / centre.z),
              vx = static_cast<float>((h(1, 0) - v * h(2, 0)) / centre.z),
              vy = static_cast<float>((h(1, 1) - v * h(2, 1)) / centre.z);
  const auto u0 = static_cast<float>(u - 0.5), v0 = static_cast<float>(v - 0.5);
  const float reach_u = kWindowReach * (std::abs(ux) + std::abs(uy)),
              reach_v = kWindowReach * (std::abs(vx) + std::abs(vy));
  const ImageView<const std::uint8_t> image = source.grey;
  if (!(u0 - reach_u >= 0 && v0 - reach_v >= 0 && u0 + reach_u < static_cast<float>(image.width - 1) &&
        v0 + reach_v < static_cast<float>(image.height - 1)))
    return false;
  std::size_t i = 0;
  for (int j = -kWindowReach; j <= kWindowReach; j += kWindowStep)
    for (int k = -kWindowReach; k <= kWindowReach; k += kWindowStep) {
      const auto dx = static_cast<float>(k), dy = static_cast<float>(j);
      window.grey[i++] = interpolated(image, u0 + ux * dx + uy * dy, v0 + vx * dx + vy * dy);
    }
  window.centre();
  return true;
}

}  // namespace

PlaneMatch::PlaneMatch(const PlaneView& reference, const std::vector<PlaneView>& sources)
    : reference_(reference), sources_(sources) {
  for (const PlaneView& source : sources)
    source_from_reference_.push_back(source.cam_from_world * inverse(reference.cam_from_world));
}

bool PlaneMatch::has_texture(int x, int y) const {
  const bool inside = x >= kWindowReach && y >= kWindowReach && x < reference_.camera.width - kWindowReach &&
                      y < reference_.camera.height - kWindowReach;
  return inside && reference_window(reference_.grey, x, y).has_texture();
}

void PlaneMatch::set_plane(const SeenPlane& plane) {
  homographies_.clear();
  for (std::size_t i = 0; i < sources_.size(); ++i)
    homographies_.emplace_back(plane, reference_.camera, sources_[i].camera, source_from_reference_[i]);
}

float PlaneMatch::zncc(int x, int y, float enough) const {
  const Window window = reference_window(reference_.grey, x, y);
  float best = -2, second = -2;
  Window seen;
  for (std::size_t i = 0; i < sources_.size() && !(0.5f * (best + second) > enough); ++i) {
    if (!source_window(sources_[i], homographies_[i], x, y, seen)) continue;
    float product = 0;
    for (std::size_t k = 0; k < seen.grey.size(); ++k) product += window.grey[k] * seen.grey[k];
    const float energy = window.energy * seen.energy;
    const float zncc = energy > 0 ? product / std::sqrt(energy) : 0;
    second = std::max(second, std::min(best, zncc));
    best = std::max(best, zncc);
  }
  return second < -1 ? kUnknown : 0.5f * (best + second);
}

}  // namespace recon
