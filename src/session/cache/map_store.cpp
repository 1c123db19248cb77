#include "session/cache/map_store.hpp"

#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "io/map_files.hpp"

namespace recon {

namespace {

std::size_t map_bytes(const ViewDepth& maps) {
  return (sizeof(float) + sizeof(Vec3f) + sizeof(float)) * static_cast<std::size_t>(maps.depth.pitch()) *
         static_cast<std::size_t>(maps.depth.height());
}

}  // namespace

void MapStore::insert(const std::string& view, std::shared_ptr<const ViewDepth> maps) {
  const std::size_t bytes = map_bytes(*maps);
  cache_.insert(view, std::move(maps), bytes);
}

std::vector<OutputFile> MapStore::write(const std::string& view, const ViewDepth& maps) const {
  const std::string depth = Workspace::depth_file(view, kind_), normal = Workspace::normal_file(view, kind_),
                    confidence = Workspace::confidence_file(view, kind_);
  return {{depth, write_depth_map(workspace_.path(depth), maps.depth.view())},
          {normal, write_normal_map(workspace_.path(normal), maps.normal.view())},
          {confidence, write_depth_map(workspace_.path(confidence), maps.confidence.view())}};
}

std::shared_ptr<const ViewDepth> MapStore::get(const std::string& view) {
  return cache_.get(
      view, [&] { return std::make_shared<const ViewDepth>(read(view)); }, map_bytes);
}

ViewDepth MapStore::copy(const std::string& view) {
  if (const auto maps = cache_.find(view))
    return {maps->depth.clone(), maps->normal.clone(), maps->confidence.clone()};
  return read(view);
}

ViewDepth MapStore::read(const std::string& view) const {
  ViewDepth maps;
  maps.depth = read_depth_map(workspace_.path(Workspace::depth_file(view, kind_)));
  maps.normal = read_normal_map(workspace_.path(Workspace::normal_file(view, kind_)));
  maps.confidence = read_depth_map(workspace_.path(Workspace::confidence_file(view, kind_)));
  // The format does not distinguish a confidence of zero from an unknown one; the depth does.
  for (int y = 0; y < maps.depth.height(); ++y)
    for (int x = 0; x < maps.depth.width(); ++x)
      if (!std::isnan(maps.depth(x, y)) && std::isnan(maps.confidence(x, y))) maps.confidence(x, y) = 0;
  return maps;
}

double known_share(const Image<float>& depth) {
  std::size_t known = 0;
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) known += std::isnan(depth(x, y)) ? 0u : 1u;
  const double all = static_cast<double>(depth.width()) * depth.height();
  return all > 0 ? static_cast<double>(known) / all : 0;
}

}  // namespace recon
