#include "session/scene/cloud_writer.hpp"

#include <algorithm>
#include <new>
#include <span>

namespace recon {

void CloudWriter::add_bounds(const FusedPoints& points) {
  const std::lock_guard lock(mutex_);
  points.visit([&](const FusedPoint& point, std::span<const std::uint32_t>) {
    const Vec3d p = point.position;
    SceneBox& box = bounds_ ? *bounds_ : bounds_.emplace(SceneBox{p, p});
    box.min = {std::min(box.min.x, p.x), std::min(box.min.y, p.y), std::min(box.min.z, p.z)};
    box.max = {std::max(box.max.x, p.x), std::max(box.max.y, p.y), std::max(box.max.z, p.z)};
  });
}

void CloudWriter::encode(const FusedPoints& points, EncodedPoints& result) {
  if (roi_) add_bounds(points);
  result.cloud.reserve(points.points.size() * vertex_bytes_);
  result.visibility.reserve(points.points.size() * PlyWriter::kListedBytes + points.views.size_bytes());
  std::vector<std::uint32_t> indices;
  points.visit([&](const FusedPoint& point, std::span<const std::uint32_t> views) {
    if (roi_ && !roi_->contains(point.position)) return;
    indices.clear();
    for (const std::uint32_t view : views) indices.push_back(image_index_[view]);
    if (!std::ranges::is_sorted(indices)) std::ranges::sort(indices);
    ply_.encode({point.position, point.normal, point.colour, point.confidence, indices}, result);
  });
}

/// A buffer that is used again when both files have it, as new memory costs as much as the points.
std::shared_ptr<EncodedPoints> CloudWriter::free_buffer() {
  auto buffer = std::make_unique<EncodedPoints>();
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  return {buffer.release(), [this](EncodedPoints* written) { keep_buffer(written); }};
}

void CloudWriter::keep_buffer(EncodedPoints* written) noexcept {
  std::unique_ptr<EncodedPoints> buffer(written);
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  } catch (const std::bad_alloc&) {  // it is freed
  }
}

}  // namespace recon
