#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/camera.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A copy-on-write vector: the models of the work items of a scene differ little, and contain millions of
/// observations. Reading is thread-safe, changing is not.
template <class T>
class SharedVector {
 public:
  SharedVector() = default;
  SharedVector(std::initializer_list<T> elements) : SharedVector(std::vector<T>(elements)) {}
  SharedVector(std::vector<T> elements)  // NOLINT(google-explicit-constructor): it replaces std::vector
      : elements_(elements.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(elements))) {}

  std::size_t size() const { return get().size(); }
  bool empty() const { return get().empty(); }
  const T* begin() const { return get().data(); }
  const T* end() const { return get().data() + get().size(); }
  const T& operator[](std::size_t i) const { return get()[i]; }
  const T& at(std::size_t i) const { return get().at(i); }

  /// Mutable access to the elements; other copies are not affected.
  std::vector<T>& edit() {
    if (!elements_)
      elements_ = std::make_shared<std::vector<T>>();
    else if (elements_.use_count() > 1)
      elements_ = std::make_shared<std::vector<T>>(*elements_);
    return *elements_;
  }

  void push_back(T element) { edit().push_back(std::move(element)); }
  void clear() { elements_.reset(); }

 private:
  const std::vector<T>& get() const {
    static const std::vector<T> kNone;
    return elements_ ? *elements_ : kNone;
  }

  std::shared_ptr<std::vector<T>> elements_;
};

inline constexpr std::uint64_t kNoPoint = std::numeric_limits<std::uint64_t>::max();

/// An observed feature of a view: its pixel coordinates, and the id of its point or kNoPoint.
struct Observation {
  Vec2d pixel{0, 0};
  std::uint64_t point_id = kNoPoint;
};

/// How a mask file marks the pixels to ignore.
enum class MaskKind {
  kBlack,        ///< as 0 in all colours, or fully transparent
  kNotBlack,     ///< as anything but 0 in all colours: the dynamic masks of instant-ngp
  kTransparent,  ///< as fully transparent, whatever their colours: the mask is the photo itself
};

/// What a view that is one pinhole face of a wide photo has of the photo, see with_faces.
struct PhotoFace {
  std::string photo;      ///< the name of the photo's view
  std::string side;       ///< "front", "left", ...
  Camera lens;            ///< of the photo
  Mat3d face_from_photo;  ///< rotation of camera coordinates
};

/// One photo, or a face of one: its name relative to the image folder, its camera (index into Scene::cameras)
/// and pose.
struct View {
  std::uint32_t id = 0;
  std::string name;
  int camera = 0;
  Pose cam_from_world;
  SharedVector<Observation> observations;
  std::string mask_hash = {};   ///< of the content of its mask file; empty: it has none
  std::string photo = {};       ///< its photo, relative to the image folder; empty: `name`
  std::string mask_file = {};   ///< that the model names; empty: none
  std::string depth_file = {};  ///< as the model names it; empty: it names none
  MaskKind mask_kind = MaskKind::kBlack;
  bool levelled = false;  ///< 16-bit values of its photo become 8 bits by other levels than 0 and 65535

  std::shared_ptr<const PhotoFace> face = nullptr;  ///< null: the view is a whole photo

  const std::string& photo_file() const { return photo.empty() ? name : photo; }
  /// The name of the view before it was divided into faces.
  const std::string& photo_name() const { return face ? face->photo : name; }
};

/// One element of a point's track: the view (index into Scene::views) and the index into its observations.
struct TrackElement {
  int view = 0;
  std::uint32_t observation = 0;
};

/// A triangulated point of structure from motion; `error` is its mean reprojection error in pixels.
struct SparsePoint {
  std::uint64_t id = 0;
  Vec3d position{0, 0, 0};
  Rgb8 colour{0, 0, 0};
  double error = 0;
  std::vector<TrackElement> track;
};

/// A view that cannot be used, and why.
struct LeftOut {
  std::string name;
  std::string reason;
};

/// A calibrated scene. Views are sorted by name, so that all later stages have a fixed order.
struct Scene {
  std::vector<std::uint32_t> camera_ids;  ///< COLMAP's id of each camera
  std::vector<Camera> cameras;
  std::vector<View> views;
  SharedVector<SparsePoint> points;
  std::vector<LeftOut> unusable;  ///< further views, sorted by name: without their photo there is no camera
  std::vector<std::string> warnings;  ///< what was ignored while reading the model, and why
};

/// The number of views that have a mask.
inline int count_masked(const Scene& scene) {
  return static_cast<int>(std::count_if(scene.views.begin(), scene.views.end(),
                                        [](const View& view) { return !view.mask_hash.empty(); }));
}

}  // namespace recon
