#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/lru_cache.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_file.hpp"
#include "match/posed_image.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/plan/plan.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

/// The undistorted images of a scene, in colour and as matching takes them. They come from the photos and not
/// from the files that the run writes, so that lossy formats cost nothing and a resumed run sees the same
/// pixels. Cached up to a budget of memory, least recently used out first. Thread-safe.
class PhotoStore {
 public:
  using Colour = Image<Rgb8>;
  /// Grey, or red, green and blue.
  struct Channels : std::vector<Image<std::uint8_t>> {
    std::vector<Image<std::uint8_t>> coarser;  ///< the first channel halved once, twice, ...
    std::uint64_t id = 0;                      ///< see PosedImage::id; the next ones are those of `coarser`
  };

  /// Max bytes of reading a photo, for each of its pixels: its file, the decoder's image, ours, undistorted,
  /// and in grey.
  static constexpr std::size_t kReadBytes = 16;

  /// @param images  folder of the photos
  /// @param colour  match three channels instead of grey
  /// @param levels  how often channels are halved
  /// @param budget  bytes
  PhotoStore(std::filesystem::path images, bool colour, int levels, std::size_t budget);

  void set_budget(std::size_t bytes);

  std::filesystem::path photo_file(const ScenePlan& plan, int view) const {
    return images_ / plan.scene_view(view).photo_file();
  }

  /// The content of the photo file of a view; a photo that has not its camera's size is not read to the end.
  /// @throws InputError when it cannot be read, or has another size by its header
  std::string read(const ScenePlan& plan, int view) const;
  /// What is black and white in 16-bit photos.
  SampleLevels levels() const { return levels_of_samples_; }
  void set_levels(SampleLevels levels) { levels_of_samples_ = levels; }

  /// The photo of a view from the content of its file, and what is wrong with that all the same.
  /// @throws InputError when it cannot be decoded or does not have its camera's size
  Image<Rgb8> decode(const ScenePlan& plan, int view, const std::string& file_content,
                     std::string& damage) const;

  /// Undistorts a view from its photo, and caches it.
  std::shared_ptr<const Colour> add(const ScenePlan& plan, int view, const Image<Rgb8>& photo);

  /// @throws InputError as `read` and `decode`
  std::shared_ptr<const Colour> colour(const ScenePlan& plan, int view);
  std::shared_ptr<const Channels> channels(const ScenePlan& plan, int view);

  /// Frees what is cached of a view.
  void release(const ScenePlan& plan, int view);

 private:
  std::filesystem::path images_;
  bool colour_;
  int levels_;
  SampleLevels levels_of_samples_;
  LruCache<std::string, Colour> colours_;
  LruCache<std::string, Channels> channels_;
};

/// An image as matching takes it.
/// @param colour  in three channels instead of grey
/// @param levels  how often the first channel is halved
PhotoStore::Channels split_channels(const PhotoStore::Colour& image, bool colour, int levels);

/// Sets the pixels of `image`, which has been halved `level` times; they must outlive it.
void set_pixels(const PhotoStore::Channels& channels, int level, PosedImage& image);

/// The same for all images of a sweep. @param channels_of  channels_of(i) of the reference, 0, and its
/// sources
template <class ChannelsOf>
void set_all_pixels(const ChannelsOf& channels_of, SweepProblem& problem) {
  const auto set_level = [&](int level, SweepImages& images) {
    set_pixels(channels_of(0), level, images.reference);
    for (std::size_t i = 0; i < images.sources.size(); ++i)
      set_pixels(channels_of(i + 1), level, images.sources[i]);
  };
  set_level(0, problem);
  for (std::size_t i = 0; i < problem.coarser.size(); ++i)
    set_level(static_cast<int>(i) + 1, problem.coarser[i]);
}

/// A complete file of the output folder before `commit`, and its name there.
struct WrittenFile {
  std::string name;
  AtomicFile file;

  OutputFile commit() { return {name, file.commit()}; }
};

/// The maps of views before and after the check, in files of the workspace and, most recently used first, in
/// memory. Thread-safe.
class MapStore {
 public:
  /// Max bytes of reading the maps of a view beside them, for each pixel: the content of the largest file.
  static constexpr std::size_t kReadUnchecked = sizeof(float), kReadChecked = 2 * sizeof(float);
  /// Max bytes of writing them, for each pixel: the greys of the confidences and their file, whose buffer
  /// doubles as it grows.
  static constexpr std::size_t kWriteBytes = 7;

  /// @param workspace  outlives this
  explicit MapStore(const Workspace& workspace) : workspace_(workspace), cache_(0) {}

  /// Bytes of the maps in memory; none before it is set.
  void set_budget(std::size_t bytes) { cache_.set_budget(bytes); }

  /// Keeps the maps of a view in memory if the budget allows. Their confidences are rounded, see
  /// round_confidences.
  void insert(MapKind kind, const std::string& view, std::shared_ptr<const ViewDepth> maps);

  /// Frees the maps of a view.
  void release(MapKind kind, const std::string& view) { cache_.erase(key(kind, view)); }

  /// A file of a map of a view that is complete but for `commit`. Normals are written only after the check:
  /// those before it follow from the depths. @throws OutputError
  WrittenFile write_depth(MapKind kind, const std::string& view, const ViewDepth& maps) const;
  WrittenFile write_normal(MapKind kind, const std::string& view, const ViewDepth& maps) const;
  WrittenFile write_confidence(MapKind kind, const std::string& view, const ViewDepth& maps) const;

  /// The maps of a view, read where they are not in memory: bit for bit those that were inserted.
  /// @throws InputError
  std::shared_ptr<const ViewDepth> get(MapKind kind, const std::string& view, const Pinhole& camera);

  /// The noise of the normals of a view before the check, see recon::normal_noise. @throws InputError
  float normal_noise(const std::string& view, const Pinhole& camera);

  /// The same, for the last use: they do not stay in memory.
  std::shared_ptr<const ViewDepth> take(MapKind kind, const std::string& view, const Pinhole& camera);

  /// Maps that follow from those of a view, made by `make` where they are not in memory.
  /// @param name  of its own
  std::shared_ptr<const ViewDepth> derived(const std::string& name,
                                           const std::function<std::shared_ptr<const ViewDepth>()>& make);
  void release_derived(const std::string& name) { cache_.erase(name); }

 private:
  static std::string key(MapKind kind, const std::string& view) { return Workspace::depth_file(view, kind); }
  ViewDepth read(MapKind kind, const std::string& view, const Pinhole& camera) const;

  const Workspace& workspace_;
  LruCache<std::string, ViewDepth> cache_;  ///< by file
  std::mutex mutex_;
  std::map<std::string, float> normal_noise_;  ///< by view
};

/// The share of pixels with a known depth or disparity, [0, 1].
double known_share(const Image<float>& map);

}  // namespace recon
