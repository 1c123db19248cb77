#include "cuda/methods/agreement_stream.hpp"

#include <cstddef>

namespace recon::cuda {

namespace {

/// The maps of a view in `memory`, and the bytes that they take; `memory` may be null.
struct ViewMemory {
  ViewMemory(std::byte* memory, const Pinhole& camera) {
    const std::size_t pixels =
        static_cast<std::size_t>(camera.width) * static_cast<std::size_t>(camera.height);
    const std::size_t normals = arena_bytes(pixels * sizeof(float));
    const std::size_t counts = normals + arena_bytes(pixels * sizeof(Vec3f));
    bytes = counts + arena_bytes(pixels * sizeof(Agreement));
    if (memory == nullptr) return;
    maps = {reinterpret_cast<float*>(memory), reinterpret_cast<Vec3f*>(memory + normals),
            reinterpret_cast<Agreement*>(memory + counts), camera.width, camera.height};
  }

  std::size_t bytes;
  DeviceMaps maps{};
};

}  // namespace

/// The maps of a view on the device; empty if memory is short.
std::optional<DeviceMaps> AgreementStream::acquire(const DepthSource& source) {
  const ImageCache::Key key{source.id, 0, DeviceLayout::kMaps};
  std::optional<DepthSource::Maps> loaded;
  // Loaded before the upload, during which other streams wait for the cache.
  if (!cache_.has(key)) loaded = source.load();
  const auto upload = [&](std::byte* memory) {
    if (!loaded) loaded = source.load();
    const DeviceMaps maps = ViewMemory(memory, source.camera).maps;
    staging_.upload(loaded->depth, maps.depth, maps.width, stream_);
    staging_.upload(loaded->normal, maps.normal, maps.width, stream_);
  };
  ImageCache::Use use = cache_.acquire(key, ViewMemory(nullptr, source.camera).bytes, stream_, upload);
  if (!use) return std::nullopt;
  const DeviceMaps maps = ViewMemory(use->memory.data(), source.camera).maps;
  uses_.push_back(std::move(use));
  return maps;
}

std::optional<Image<Agreement>> AgreementStream::count(const DepthSource& reference,
                                                       const std::vector<DepthSource>& sources,
                                                       const ConsistencyOptions& options) {
  struct Release {
    AgreementStream& stream;
    ~Release() { stream.cache_.release(stream.uses_); }
  } const release{*this};
  const std::optional<DeviceMaps> view = acquire(reference);
  if (!view) return std::nullopt;
  Image<Agreement> counts(view->width, view->height);
  const auto pixels = static_cast<std::size_t>(view->width) * static_cast<std::size_t>(view->height);
  RECON_CUDA_TRY(cudaMemsetAsync(view->counts, 0, pixels * sizeof(Agreement), stream_.get()));
  for (const DepthSource& source : sources) {
    const std::optional<DeviceMaps> other = acquire(source);
    if (!other) return std::nullopt;
    launch_agreement(agreement_geometry(reference.camera, reference.cam_from_world, source.camera,
                                        source.cam_from_world, options),
                     *view, *other, stream_.get());
  }
  staging_.download<Agreement>(view->counts, view->width, counts.view(), stream_);
  return counts;
}

}  // namespace recon::cuda
