#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/lru_cache.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/workspace.hpp"

namespace recon {

/// The maps of views in files of the workspace, with a cache of the most recently used ones. Thread-safe.
class MapStore {
 public:
  /// @param budget  bytes of memory
  MapStore(const Workspace& workspace, MapKind kind, std::size_t budget)
      : workspace_(workspace), kind_(kind), cache_(budget) {}

  /// Caches the maps of a view if the budget allows.
  void insert(const std::string& view, std::shared_ptr<const ViewDepth> maps);

  /// Frees the cache and caches nothing from here on.
  void disable_cache() { cache_.set_budget(0); }

  /// Writes the maps of a view.
  /// @throws OutputError
  std::vector<OutputFile> write(const std::string& view, const ViewDepth& maps) const;

  /// The maps of a view, read where they are not cached: bit for bit those that were written.
  /// @throws InputError
  std::shared_ptr<const ViewDepth> get(const std::string& view);

  /// The same for a caller that changes or owns them.
  ViewDepth copy(const std::string& view);

 private:
  ViewDepth read(const std::string& view) const;

  const Workspace& workspace_;
  MapKind kind_;
  LruCache<std::string, ViewDepth> cache_;
};

/// The share of pixels with a known depth, [0, 1].
double known_share(const Image<float>& depth);

}  // namespace recon
