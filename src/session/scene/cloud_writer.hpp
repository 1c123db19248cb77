#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
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
        roi_(roi),
        vertices_(1, kWritesWaiting),
        visibility_(1, kWritesWaiting),
        hashes_(1, kWritesWaiting) {}

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
  void encode(const FusedPoints& points, EncodedPoints& result);
  void add_bounds(const FusedPoints& points);
  std::shared_ptr<EncodedPoints> free_buffer();
  void keep_buffer(EncodedPoints* written) noexcept;

  static constexpr int kWritesWaiting = 32;

  PlyWriter ply_;
  const std::size_t vertex_bytes_;
  const std::vector<std::uint32_t> image_index_;
  const std::optional<SceneBox> roi_;
  std::mutex mutex_;
  std::optional<SceneBox> bounds_;
  std::vector<std::unique_ptr<EncodedPoints>> free_;
  std::vector<std::shared_ptr<EncodedPoints>> encoded_;  ///< of the slots
  BackgroundWork vertices_, visibility_, hashes_;        // last, so that they end before what they work on
};

}  // namespace recon
