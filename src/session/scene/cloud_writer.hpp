#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fuse/fusion.hpp"
#include "io/cloud/ply.hpp"
#include "session/graph/task_threads.hpp"
#include "session/options/options.hpp"

namespace recon {

/// Writes points in the region of interest, their views as COLMAP counts them in the model. Each file has
/// a writer thread of its own, and the hashes of both one: the system lets one thread at a time write to a
/// file.
class CloudWriter : public PointSink {
 public:
  CloudWriter(const std::filesystem::path& path, const PlyCoordinates& coordinates,
              std::vector<std::uint32_t> image_index, const std::optional<SceneBox>& roi)
      : ply_(path, coordinates),
        vertex_bytes_(PlyWriter::vertex_bytes(coordinates.type)),
        image_index_(std::move(image_index)),
        roi_(roi) {}

  void reserve(int count) override { encoded_.resize(count); }

  void keep(int slot, const FusedPoints& points) override {
    const std::shared_ptr<EncodedPoints> encoded = free_buffer();
    encoded->clear();
    encode(points, *encoded);
    encoded_[slot] = encoded;
  }

  void add(int slot) override {
    const std::shared_ptr<EncodedPoints> points = std::move(encoded_[slot]);
    vertices_.submit([this, points] { ply_.add_vertices(*points); });
    visibility_.submit([this, points] { ply_.add_visibility(*points); });
    hashes_.submit([this, points] { ply_.hash(*points); });
  }

  /// Waits until all points are written.
  std::uint64_t count() {
    vertices_.finish();
    visibility_.finish();
    hashes_.finish();
    return ply_.count();
  }
  CloudFiles commit() { return ply_.commit(); }

  /// Of all points, also those outside of the region of interest, where there is one.
  const std::optional<SceneBox>& bounds() const { return bounds_; }

 private:
  void add_bounds(const FusedPoints& points) {
    const std::lock_guard lock(mutex_);
    points.visit([&](const FusedPoint& point, std::span<const std::uint32_t>) {
      const Vec3d p = point.position;
      SceneBox& box = bounds_ ? *bounds_ : bounds_.emplace(SceneBox{p, p});
      box.min = {std::min(box.min.x, p.x), std::min(box.min.y, p.y), std::min(box.min.z, p.z)};
      box.max = {std::max(box.max.x, p.x), std::max(box.max.y, p.y), std::max(box.max.z, p.z)};
    });
  }

  void encode(const FusedPoints& points, EncodedPoints& result) {
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
  std::shared_ptr<EncodedPoints> free_buffer() {
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

  void keep_buffer(EncodedPoints* written) noexcept {
    std::unique_ptr<EncodedPoints> buffer(written);
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {  // it is freed
    }
  }

  static constexpr int kWritesWaiting = 32;

  PlyWriter ply_;
  const std::size_t vertex_bytes_;
  const std::vector<std::uint32_t> image_index_;
  const std::optional<SceneBox> roi_;
  std::mutex mutex_;
  std::optional<SceneBox> bounds_;
  std::vector<std::unique_ptr<EncodedPoints>> free_;
  std::vector<std::shared_ptr<EncodedPoints>> encoded_;  ///< of the slots
  // Last, so that they end before what they work on.
  BackgroundWork vertices_{1, kWritesWaiting}, visibility_{1, kWritesWaiting}, hashes_{1, kWritesWaiting};
};

}  // namespace recon
