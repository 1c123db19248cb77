#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "methods/sweep/plane_sweep.hpp"
#include "session/cache/lru_cache.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/workspace.hpp"

namespace recon {

/// The maps of views, in files of the workspace and, the ones used last, in memory. Safe from several
/// threads.
class MapStore {
 public:
  /// @param budget  bytes of memory
  MapStore(const Workspace& workspace, MapKind kind, std::size_t budget)
      : workspace_(workspace), kind_(kind), cache_(budget) {}

  /// Keeps the maps of a view in memory, as far as the budget allows.
  void keep(const std::string& view, std::shared_ptr<const ViewDepth> maps);

  /// Keeps nothing in memory from here on.
  void forget() { cache_.set_budget(0); }

  /// Writes the maps of a view.
  /// @throws OutputError
  std::vector<OutputFile> write(const std::string& view, const ViewDepth& maps) const;

  /// The maps of a view, read where they are not in memory: bit for bit those that were written.
  /// @throws InputError
  std::shared_ptr<const ViewDepth> get(const std::string& view);

  /// The same for a caller that changes or keeps them: a copy of those in memory, or what is read.
  ViewDepth take(const std::string& view);

 private:
  ViewDepth read(const std::string& view) const;

  const Workspace& workspace_;
  MapKind kind_;
  LruCache<ViewDepth> cache_;
};

/// The share of pixels with a known depth, [0, 1].
double known_share(const Image<float>& depth);

}  // namespace recon
