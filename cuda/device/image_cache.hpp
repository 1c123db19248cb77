#pragma once

#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"

namespace recon::cuda {

/// Layout of what an ImageCache keeps.
enum class DeviceLayout {
  kQuads,       ///< SourceStorage::kQuads
  kBytes,       ///< SourceStorage::kBytes
  kMaps,        ///< depths and normals of a view, with what sources say of them
  kFusionMaps,  ///< all maps of a view after the check, see FusionStream
  kFusionWork,  ///< memory of a FusionStream
};

/// Source images and maps of views on one device, shared by concurrent streams: an image is uploaded and
/// packed once and stays as long as memory allows. The images used least recently are evicted first, never
/// one that is in use. Thread-safe; the device must be current in the calling thread.
class ImageCache {
 public:
  struct Key {
    std::uint64_t id;  ///< PosedImage::id, DepthSource::id
    int channel;
    DeviceLayout layout;
    auto operator<=>(const Key&) const = default;
  };

  struct Entry {
    explicit Entry(std::size_t bytes) : memory(bytes) {}
    DeviceBuffer memory;
    Event uploaded;
    std::uint64_t last_use = 0;
  };
  /// An image in use.
  using Use = std::shared_ptr<const Entry>;

  /// Sets the bytes that all images may take, at first 0. Returns when they take no more: waits for the
  /// release of images in use, so the caller must not use any itself.
  void set_budget(std::size_t bytes);

  /// An image of `bytes` for work that is queued on `stream` from now on, until `uses` is released. If it is
  /// not there, `upload(memory)` queues its upload on `stream`; other streams wait for that, other threads
  /// until it returns. Null if memory is short.
  /// @throws DeviceError, and what `upload` throws
  std::byte* acquire(const Key& key, std::size_t bytes, const Stream& stream, std::vector<Use>& uses,
                     const std::function<void(std::byte* memory)>& upload);

  /// The same for several arrays, which `take(arena)` allocates and returns as one value, the same in each
  /// call: `upload(arrays)` queues their upload. Empty if memory is short.
  /// @throws DeviceError, and what `upload` throws
  template <class Take, class Upload>
  auto acquire_arrays(const Key& key, const Stream& stream, std::vector<Use>& uses, const Take& take,
                      const Upload& upload) -> std::optional<decltype(take(std::declval<Arena&>()))> {
    const std::size_t bytes = bytes_taken(take);
    const auto arrays = [&](std::byte* memory) {
      Arena arena(memory, bytes);
      return take(arena);
    };
    std::byte* memory =
        acquire(key, bytes, stream, uses, [&](std::byte* uploaded) { upload(arrays(uploaded)); });
    if (memory == nullptr) return std::nullopt;
    return arrays(memory);
  }

  /// Ends the use of images and empties `uses`. Work on them may still be queued: freeing device memory waits
  /// for it.
  void release(std::vector<Use>& uses);

  /// Does that at the end of its scope. @param cache  may be null
  class Release {
   public:
    Release(ImageCache* cache, std::vector<Use>& uses) : cache_(cache), uses_(uses) {}
    Release(const Release&) = delete;
    ~Release() {
      if (cache_ != nullptr) cache_->release(uses_);
    }

   private:
    ImageCache* cache_;
    std::vector<Use>& uses_;
  };

  /// See set_budget.
  std::size_t budget() const;

  /// Whether an image is there at the moment.
  bool has(const Key& key) const;

  /// Number of uploads so far.
  std::size_t uploads() const;

 private:
  bool evict_for(std::size_t bytes);

  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::size_t budget_ = 0, bytes_ = 0, uploads_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace recon::cuda
