#include "session/products/stores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/pixels.hpp"
#include "core/unique_id.hpp"
#include "fuse/normal_noise.hpp"
#include "io/map/map_files.hpp"
#include "refine/normals.hpp"
#include "scene/undistort.hpp"
#include "session/products/photo_files.hpp"

namespace recon {

namespace {

/// With the padding of rows.
template <class T>
std::size_t stored_pixels(const Image<T>& image) {
  return static_cast<std::size_t>(image.pitch()) * static_cast<std::size_t>(image.height());
}

std::size_t bytes_of(const PhotoStore::Channels& channels) {
  std::size_t bytes = 0;
  for (const auto* images :
       {static_cast<const std::vector<Image<std::uint8_t>>*>(&channels), &channels.coarser})
    for (const auto& channel : *images) bytes += stored_pixels(channel);
  return bytes;
}

/// Of the four bytes a pixel takes, one is for matching, with its halves a third more.
std::size_t channel_share(std::size_t budget, bool colour, int levels) {
  return colour ? budget / 2 : levels > 0 ? budget / 13 * 4 : budget / 4;
}

std::size_t map_bytes(const ViewDepth& maps) {
  return ViewDepth::kPixelBytes * stored_pixels(maps.depth);
}

/// @param content  of the file, or its beginning
void check_photo_size(const std::string& file, const HeaderSize& size, std::string_view content,
                      const Camera& camera) {
  if (has_size(size, camera.width, camera.height)) return;
  const auto side = [](std::uint64_t pixels) {
    return static_cast<int>(std::min<std::uint64_t>(pixels, std::numeric_limits<int>::max()));
  };
  throw InputError(file + ": the photo has " + text_of(size) + " pixels, its camera " +
                   size_text(camera.width, camera.height) + "; " +
                   advice_on_size(content, {side(size.width), side(size.height)}, camera));
}

}  // namespace

PhotoStore::PhotoStore(std::filesystem::path images, bool colour, int levels, std::size_t budget)
    : images_(std::move(images)),
      colour_(colour),
      levels_(levels),
      colours_(budget - channel_share(budget, colour, levels)),
      channels_(channel_share(budget, colour, levels)) {}

void PhotoStore::set_budget(std::size_t bytes) {
  channels_.set_budget(channel_share(bytes, colour_, levels_));
  colours_.set_budget(bytes - channel_share(bytes, colour_, levels_));
}

Image<Rgb8> PhotoStore::decode(const ScenePlan& plan, int view, const std::string& file_content,
                               std::string& damage) const {
  const std::string file = photo_file(plan, view).string();
  const Camera& camera = plan.photo_camera(view);
  // Before it is decoded: the memory is planned for photos of the size of their cameras.
  if (const auto size = header_size(file_content)) check_photo_size(file, *size, file_content, camera);
  Image<Rgb8> photo = decode_image(file_content, file, levels_of_samples_, &damage);
  check_photo_size(file, size_of(photo), file_content, camera);
  return photo;
}

std::shared_ptr<const PhotoStore::Colour> PhotoStore::add(const ScenePlan& plan, int view,
                                                          const Image<Rgb8>& photo) {
  const Camera& camera = plan.photo_camera(view);
  const Pinhole& target = plan.view(view).camera;
  const auto& face = plan.scene_view(view).face;
  auto image = std::make_shared<const Colour>(
      face ? undistort_face(photo.view(), camera, target, face->face_from_photo)
           : undistort(photo.view(), camera, target));
  auto channels = std::make_shared<const Channels>(split_channels(*image, colour_, levels_));
  const std::size_t bytes = bytes_of(*channels);
  channels_.insert(plan.name(view), std::move(channels), bytes);
  return colours_.insert(plan.name(view), image, stored_pixels(*image) * sizeof(Rgb8));
}

std::shared_ptr<const PhotoStore::Colour> PhotoStore::colour(const ScenePlan& plan, int view) {
  if (auto image = colours_.find(plan.name(view))) return image;
  std::string damage;  // said when the view was prepared
  return add(plan, view, decode(plan, view, read(plan, view), damage));
}

std::string PhotoStore::read(const ScenePlan& plan, int view) const {
  const std::filesystem::path file = photo_file(plan, view);
  return read_image_file(file, [&](const HeaderSize& size, std::string_view beginning) {
    check_photo_size(file.string(), size, beginning, plan.photo_camera(view));
  });
}

std::shared_ptr<const PhotoStore::Channels> PhotoStore::channels(const ScenePlan& plan, int view) {
  return channels_.get(
      plan.name(view),
      [&] { return std::make_shared<const Channels>(split_channels(*colour(plan, view), colour_, levels_)); },
      bytes_of);
}

void PhotoStore::release(const ScenePlan& plan, int view) {
  colours_.erase(plan.name(view));
  channels_.erase(plan.name(view));
}

PhotoStore::Channels split_channels(const PhotoStore::Colour& image, bool colour, int levels) {
  PhotoStore::Channels channels;
  channels.id = unique_ids(static_cast<std::uint64_t>(levels) + 1);
  if (colour) {
    for (const auto channel : {&Rgb8::r, &Rgb8::g, &Rgb8::b})
      channels.push_back(mapped<std::uint8_t>(image, [channel](Rgb8 c) { return c.*channel; }));
  } else {
    channels.push_back(mapped<std::uint8_t>(image, luma));
  }
  for (int level = 0; level < levels; ++level) {
    const auto& finer = level == 0 ? channels.front() : channels.coarser.back();
    channels.coarser.push_back(halved(finer.view()));
  }
  return channels;
}

void set_pixels(const PhotoStore::Channels& channels, int level, PosedImage& image) {
  EXPECTS(level == 0 ? !channels.empty() : channels.coarser.size() >= static_cast<std::size_t>(level));
  if (level == 0)
    for (std::size_t i = 0; i < channels.size(); ++i) image.channel[i] = channels[i].view();
  else
    image.channel[0] = channels.coarser[level - 1].view();
  image.id = channels.id + static_cast<std::uint64_t>(level);
}

void MapStore::insert(MapKind kind, const std::string& view, std::shared_ptr<const ViewDepth> maps) {
  const std::size_t bytes = map_bytes(*maps);
  if (kind == MapKind::kPhotometric && maps->normal.width() > 0) {
    const float noise = recon::normal_noise(maps->depth.view(), maps->normal.view(), maps->confidence.view());
    const std::lock_guard lock(mutex_);
    normal_noise_[view] = noise;
  }
  cache_.insert(key(kind, view), std::move(maps), bytes);
}

WrittenFile MapStore::write_depth(MapKind kind, const std::string& view, const ViewDepth& maps) const {
  const std::string file = Workspace::depth_file(view, kind);
  return {file, depth_map_file(workspace_.path(file), maps.depth.view())};
}

WrittenFile MapStore::write_normal(MapKind kind, const std::string& view, const ViewDepth& maps) const {
  const std::string file = Workspace::normal_file(view, kind);
  return {file, normal_map_file(workspace_.path(file), maps.normal.view())};
}

WrittenFile MapStore::write_confidence(MapKind kind, const std::string& view, const ViewDepth& maps) const {
  const std::string file = Workspace::confidence_file(view, kind);
  return {file, confidence_map_file(workspace_.path(file), maps.confidence.view())};
}

std::shared_ptr<const ViewDepth> MapStore::get(MapKind kind, const std::string& view, const Pinhole& camera) {
  const auto load = [&] { return std::make_shared<const ViewDepth>(read(kind, view, camera)); };
  return cache_.get(key(kind, view), load, map_bytes);
}

float MapStore::normal_noise(const std::string& view, const Pinhole& camera) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = normal_noise_.find(view); it != normal_noise_.end()) return it->second;
  }
  const auto maps = get(MapKind::kPhotometric, view, camera);
  const float noise = recon::normal_noise(maps->depth.view(), maps->normal.view(), maps->confidence.view());
  const std::lock_guard lock(mutex_);
  return normal_noise_[view] = noise;
}

std::shared_ptr<const ViewDepth> MapStore::derived(
    const std::string& name, const std::function<std::shared_ptr<const ViewDepth>()>& make) {
  return cache_.get(name, make, map_bytes);
}

std::shared_ptr<const ViewDepth> MapStore::take(MapKind kind, const std::string& view,
                                                const Pinhole& camera) {
  auto maps = cache_.find(key(kind, view));
  release(kind, view);
  return maps ? maps : std::make_shared<const ViewDepth>(read(kind, view, camera));
}

ViewDepth MapStore::read(MapKind kind, const std::string& view, const Pinhole& camera) const {
  const auto read_map = [&](const std::string& file, const auto& reader) {
    const std::filesystem::path path = workspace_.path(file);
    auto map = reader(path);
    if (map.width() != camera.width || map.height() != camera.height)
      throw InputError(path.string() + ": the map has " + size_text(map.width(), map.height()) +
                       " pixels, its view " + size_text(camera.width, camera.height) +
                       "; remove it, and it is made again");
    return map;
  };
  ViewDepth maps;
  maps.depth = read_map(Workspace::depth_file(view, kind), read_depth_map);
  maps.normal = kind == MapKind::kPhotometric ? normals_from_depth(maps.depth.view(), camera)
                                              : read_map(Workspace::normal_file(view, kind), read_normal_map);
  maps.confidence = read_map(Workspace::confidence_file(view, kind), read_confidence_map);
  for (int y = 0; y < maps.depth.height(); ++y)
    for (int x = 0; x < maps.depth.width(); ++x)
      if (std::isnan(maps.depth(x, y))) maps.confidence(x, y) = kUnknown;
  return maps;
}

double known_share(const Image<float>& map) {
  return share_of(map, [](float value) { return !std::isnan(value); });
}

}  // namespace recon
