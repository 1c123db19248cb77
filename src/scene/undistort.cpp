#include "scene/undistort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

/// How far outside the photo, in pixels, a sample may fall by rounding and still count as inside.
constexpr double kEdgeTolerance = 1e-3;

/// Part of the image plane of a pinhole, in its pixel coordinates.
struct Frame {
  double left, top, right, bottom;
};

bool inside_photo(Vec2d pixel, int width, int height) {
  return pixel.x >= -kEdgeTolerance && pixel.x <= width + kEdgeTolerance && pixel.y >= -kEdgeTolerance &&
         pixel.y <= height + kEdgeTolerance;
}

/// Calls `visit(x, y)` on points along the edge of a frame, closer together than a pixel of the frame.
template <class Visit>
void walk_edge(const Frame& f, const Visit& visit) {
  const int columns = static_cast<int>(std::ceil(f.right - f.left)) + 1;
  const int rows = static_cast<int>(std::ceil(f.bottom - f.top)) + 1;
  for (int i = 0; i <= columns; ++i) {
    const double x = f.left + (f.right - f.left) * i / columns;
    visit(x, f.top);
    visit(x, f.bottom);
  }
  for (int i = 0; i <= rows; ++i) {
    const double y = f.top + (f.bottom - f.top) * i / rows;
    visit(f.left, y);
    visit(f.right, y);
  }
}

/// The whole frame, with each side moved inwards to the innermost point of the undistorted edge of the photo.
Frame frame_within_edges(const Camera& camera, const Lens& lens, const Pinhole& whole) {
  Frame frame{0, 0, static_cast<double>(whole.width), static_cast<double>(whole.height)};
  const Frame photo = frame;
  walk_edge(photo, [&](double x, double y) {
    const std::optional<Vec3d> ray = lens.unproject({x, y});
    // Points without a ray, or with a ray that no pinhole sees, lie outside every frame.
    if (!ray || ray->z < 1e-3) return;
    const Vec2d p = whole.project(*ray);
    if (x == 0) frame.left = std::max(frame.left, p.x);
    if (x == camera.width) frame.right = std::min(frame.right, p.x);
    if (y == 0) frame.top = std::max(frame.top, p.y);
    if (y == camera.height) frame.bottom = std::min(frame.bottom, p.y);
  });
  return frame;
}

/// Whether the photo covers a frame: the lens mapping is injective, so testing the edge suffices.
bool is_covered(const Camera& camera, const Lens& lens, const Pinhole& whole, const Frame& frame) {
  if (!(frame.left < frame.right && frame.top < frame.bottom)) return false;
  bool covered = true;
  walk_edge(frame, [&](double x, double y) {
    if (!covered) return;
    const std::optional<Vec2d> p = lens.project(whole.ray({x, y}));
    covered = p && inside_photo(*p, camera.width, camera.height);
  });
  return covered;
}

/// `frame` scaled towards its principal point or, if that lies outside, towards the nearest point of the
/// frame.
Frame shrunk(const Frame& frame, const Pinhole& whole, double factor) {
  const double x = std::clamp(whole.cx, std::min(frame.left, frame.right), std::max(frame.left, frame.right));
  const double y = std::clamp(whole.cy, std::min(frame.top, frame.bottom), std::max(frame.top, frame.bottom));
  return {x + factor * (frame.left - x), y + factor * (frame.top - y), x + factor * (frame.right - x),
          y + factor * (frame.bottom - y)};
}

Pinhole straightened(const Camera& camera) {
  const Lens lens(camera);
  const Vec2d f = lens.focal(), c = lens.principal_point();
  const Pinhole whole{camera.width, camera.height, f.x, f.y, c.x, c.y};
  Frame frame = frame_within_edges(camera, lens, whole);
  if (!is_covered(camera, lens, whole, frame)) {
    double fits = 0, too_large = 1;
    while (too_large - fits > 1e-4) {
      const double middle = 0.5 * (fits + too_large);
      (is_covered(camera, lens, whole, shrunk(frame, whole, middle)) ? fits : too_large) = middle;
    }
    frame = shrunk(frame, whole, fits);
  }
  // Rounding must not remove a row if the frame was not shrunk.
  const int width = static_cast<int>(std::floor(frame.right - frame.left + kEdgeTolerance));
  const int height = static_cast<int>(std::floor(frame.bottom - frame.top + kEdgeTolerance));
  if (width < 1 || height < 1)
    throw InputError("a camera of model " + std::string(model_name(camera.model)) + " and " +
                     std::to_string(camera.width) + "x" + std::to_string(camera.height) +
                     " pixels has distortion parameters under which no part of its image can be "
                     "straightened; check the parameters");
  return {width, height, f.x, f.y, c.x - frame.left, c.y - frame.top};
}

Pinhole scaled_to(Pinhole camera, int max_size) {
  const int longest = std::max(camera.width, camera.height);
  if (max_size <= 0 || longest <= max_size) return camera;
  const double scale = static_cast<double>(max_size) / longest;
  const int width = std::max(1, static_cast<int>(std::lround(camera.width * scale)));
  const int height = std::max(1, static_cast<int>(std::lround(camera.height * scale)));
  const double sx = static_cast<double>(width) / camera.width;
  const double sy = static_cast<double>(height) / camera.height;
  return {width, height, camera.fx * sx, camera.fy * sy, camera.cx * sx, camera.cy * sy};
}

struct Colour {
  float r = 0, g = 0, b = 0;
};

/// The pixels of a bilinear sample, upper left, upper right, lower left, lower right, and their weights;
/// border pixels are repeated. In a panorama the first column follows the last one.
template <class T>
struct Bilinear {
  Bilinear(ImageView<const T> image, Vec2d pixel, bool panorama) {
    const Vec2d at = index_of(pixel);
    const bool seam = panorama && !(at.x >= 0 && at.x <= image.width - 1);
    const double x = seam ? (at.x < 0 ? at.x + image.width : at.x) : std::clamp(at.x, 0.0, image.width - 1.0),
                 y = std::clamp(at.y, 0.0, image.height - 1.0);
    const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
    const int x1 = seam ? 0 : std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
    const float u = static_cast<float>(x - x0), v = static_cast<float>(y - y0);
    w00 = (1 - u) * (1 - v), w10 = u * (1 - v), w01 = (1 - u) * v, w11 = u * v;
    a = image.row(y0)[x0], b = image.row(y0)[x1], c = image.row(y1)[x0], d = image.row(y1)[x1];
  }

  T a, b, c, d;
  float w00, w10, w01, w11;
};

Colour bilinear(ImageView<const Rgb8> photo, Vec2d pixel, bool panorama) {
  const Bilinear<Rgb8> at(photo, pixel, panorama);
  const auto blend = [&at](std::uint8_t p, std::uint8_t q, std::uint8_t r, std::uint8_t s) {
    return at.w00 * static_cast<float>(p) + at.w10 * static_cast<float>(q) + at.w01 * static_cast<float>(r) +
           at.w11 * static_cast<float>(s);
  };
  return {blend(at.a.r, at.b.r, at.c.r, at.d.r), blend(at.a.g, at.b.g, at.c.g, at.d.g),
          blend(at.a.b, at.b.b, at.c.b, at.d.b)};
}

/// Whether ignored pixels count for the sample: with a smaller weight they cannot change a rounded colour.
bool is_ignored(ImageView<const std::uint8_t> mask, Vec2d pixel, bool panorama) {
  constexpr float kMinWeight = 0.5f / 255;
  const Bilinear<std::uint8_t> at(mask, pixel, panorama);
  const auto weight = [](std::uint8_t value, float w) { return value == 0 ? w : 0.0f; };
  return weight(at.a, at.w00) + weight(at.b, at.w10) + weight(at.c, at.w01) + weight(at.d, at.w11) >=
         kMinWeight;
}

/// Samples per side of a target pixel, one for each photo pixel that it covers at the image centre.
int samples_along(double photo_focal, double target_focal) {
  return std::max(1, static_cast<int>(std::ceil(std::abs(photo_focal / target_focal) - 1e-6)));
}

/// Where the pixels of an undistorted image are sampled in the photo.
class Sampling {
 public:
  /// @param face_from_photo  rotation; null: none
  Sampling(const Camera& camera, const Pinhole& target, const Mat3d* face_from_photo)
      : camera_(camera),
        target_(target),
        photo_from_face_(face_from_photo ? std::optional(transpose(*face_from_photo)) : std::nullopt),
        lens_(camera),
        nx_(samples_along(lens_.focal().x, target.fx)),
        ny_(samples_along(lens_.focal().y, target.fy)) {
    for (int i = 0; i < nx_; ++i) {
      ray_x_.emplace_back(static_cast<std::size_t>(target.width + Lens::kRowSlack));
      for (int x = 0; x < target.width; ++x) ray_x_.back()[x] = target.ray({x + (i + 0.5) / nx_, 0}).x;
    }
  }

  /// Of a pixel.
  int samples() const { return nx_ * ny_; }

  /// Calls `visit(x, position)` for the samples of the pixels (x, y) of a row that lie in the photo.
  template <class Visit>
  void visit_row(int y, const Visit& visit) const {
    std::vector<double> px(ray_x_.front().size()), py(px);
    for (int j = 0; j < ny_; ++j)
      for (const std::vector<double>& ray_x : ray_x_) {
        const double ray_y = target_.ray({0, y + (j + 0.5) / ny_}).y;
        project_row(ray_x.data(), ray_y, px.data(), py.data());
        for (int x = 0; x < target_.width; ++x) {
          const Vec2d p{px[x], py[x]};
          if (inside_photo(p, camera_.width, camera_.height)) visit(x, p);
        }
      }
  }

 private:
  void project_row(const double* x, double y, double* pixel_x, double* pixel_y) const {
    if (!photo_from_face_) return lens_.project_row(x, y, target_.width, pixel_x, pixel_y);
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < target_.width; ++i) {
      const Vec2d p = lens_.project(*photo_from_face_ * Vec3d{x[i], y, 1}).value_or(Vec2d{kNone, kNone});
      pixel_x[i] = p.x, pixel_y[i] = p.y;
    }
  }

  const Camera& camera_;
  const Pinhole& target_;
  const std::optional<Mat3d> photo_from_face_;
  const Lens lens_;
  const int nx_, ny_;
  std::vector<std::vector<double>> ray_x_;  ///< of the i-th sample of each column
};

template <class T>
Image<T> copy_of(ImageView<const T> photo) {
  Image<T> image(photo.width, photo.height);
  for (int y = 0; y < photo.height; ++y) std::copy_n(photo.row(y), photo.width, image.row(y));
  return image;
}

Rgb8 rounded(const Colour& sum, int count) {
  const auto mean = [count](float s) {
    return static_cast<std::uint8_t>(static_cast<double>(s / static_cast<float>(count)) + 0.5);
  };
  return {mean(sum.r), mean(sum.g), mean(sum.b)};
}

}  // namespace

Pinhole undistorted_camera(const Camera& camera, int max_size) {
  EXPECTS(camera.width > 0 && camera.height > 0);
  const std::optional<Pinhole> pinhole = as_pinhole(camera);
  return scaled_to(pinhole ? *pinhole : straightened(camera), max_size);
}

bool is_own_image(const Camera& camera, const Pinhole& target) {
  const std::optional<Pinhole> own = as_pinhole(camera);
  return own && own->width == target.width && own->height == target.height && own->fx == target.fx &&
         own->fy == target.fy && own->cx == target.cx && own->cy == target.cy;
}

namespace {

Image<Rgb8> resampled(ImageView<const Rgb8> photo, const Sampling& sampling, const Pinhole& target,
                      bool panorama) {
  Image<Rgb8> image(target.width, target.height);
  parallel_for(target.height, [&](int y) {
    std::vector<std::pair<Colour, int>> sums(target.width);
    sampling.visit_row(y, [&](int x, Vec2d p) {
      const Colour c = bilinear(photo, p, panorama);
      auto& [sum, count] = sums[x];
      sum = {sum.r + c.r, sum.g + c.g, sum.b + c.b};
      ++count;
    });
    for (int x = 0; x < target.width; ++x) {
      const auto& [sum, count] = sums[x];
      image.row(y)[x] = count > 0 ? rounded(sum, count) : Rgb8{0, 0, 0};
    }
  });
  return image;
}

}  // namespace

Image<Rgb8> undistort(ImageView<const Rgb8> photo, const Camera& camera, const Pinhole& target) {
  EXPECTS(photo.width == camera.width && photo.height == camera.height);
  if (is_own_image(camera, target)) return copy_of(photo);
  return resampled(photo, {camera, target, nullptr}, target, false);
}

Image<Rgb8> undistort_face(ImageView<const Rgb8> photo, const Camera& camera, const Pinhole& target,
                           const Mat3d& face_from_photo) {
  EXPECTS(photo.width == camera.width && photo.height == camera.height);
  return resampled(photo, {camera, target, &face_from_photo}, target, is_panorama(camera.model));
}

Image<std::uint8_t> undistort_mask(ImageView<const std::uint8_t> mask, const Camera& camera,
                                   const Pinhole& target) {
  EXPECTS(mask.width == camera.width && mask.height == camera.height);
  if (is_own_image(camera, target)) return copy_of(mask);
  Image<std::uint8_t> image(target.width, target.height, 255);
  const Sampling sampling(camera, target, nullptr);
  parallel_for(target.height, [&](int y) {
    sampling.visit_row(y, [&](int x, Vec2d p) {
      if (is_ignored(mask, p, false)) image.row(y)[x] = 0;
    });
  });
  return image;
}

Image<std::uint8_t> undistort_face_mask(ImageView<const std::uint8_t> mask, const Camera& camera,
                                        const Pinhole& target, const Mat3d& face_from_photo) {
  const bool masked = mask.width > 0, panorama = is_panorama(camera.model);
  EXPECTS(!masked || (mask.width == camera.width && mask.height == camera.height));
  Image<std::uint8_t> image(target.width, target.height, 0);
  const Sampling sampling(camera, target, &face_from_photo);
  parallel_for(target.height, [&](int y) {
    std::vector<int> shown(target.width);
    sampling.visit_row(y,
                       [&](int x, Vec2d p) { shown[x] += masked && is_ignored(mask, p, panorama) ? 0 : 1; });
    for (int x = 0; x < target.width; ++x)
      if (shown[x] == sampling.samples()) image.row(y)[x] = 255;
  });
  return image;
}

Image<float> undistort_values(ImageView<const float> values, const Camera& camera, const Pinhole& target,
                              const Mat3d* face_from_photo) {
  const Sampling sampling(camera, target, face_from_photo);
  const double per_x = static_cast<double>(values.width) / camera.width,
               per_y = static_cast<double>(values.height) / camera.height;
  Image<float> result(target.width, target.height);
  parallel_for(target.height, [&](int y) {
    std::vector<std::pair<float, int>> sums(target.width);
    sampling.visit_row(y, [&](int x, Vec2d p) {
      const Bilinear<float> at(values, {p.x * per_x, p.y * per_y}, is_panorama(camera.model));
      const float value = at.w00 * at.a + at.w10 * at.b + at.w01 * at.c + at.w11 * at.d;
      if (!std::isnan(value)) sums[x].first += value, ++sums[x].second;
    });
    for (int x = 0; x < target.width; ++x)
      result(x, y) = sums[x].second > 0 ? sums[x].first / static_cast<float>(sums[x].second) : kUnknown;
  });
  return result;
}

}  // namespace recon
