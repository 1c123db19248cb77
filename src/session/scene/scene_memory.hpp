#pragma once

#include <cstddef>
#include <vector>

#include "fuse/fusion.hpp"
#include "methods/backend.hpp"
#include "session/plan/plan.hpp"
#include "session/products/host_memory.hpp"

namespace recon {

/// What each step of a scene takes of the host's memory, in bytes: sums of what the code of the step takes,
/// see counted_bytes, or says.
struct SceneMemory {
  /// The estimation of views on a backend, by one of its streams.
  struct Stream {
    std::size_t count = 0;      ///< of the backend
    std::size_t matching = 0;   ///< of a thread that matches and then filters
    std::size_t finishing = 0;  ///< and of one that filters, or waits for the stream
  };

  std::size_t base = 0;                        ///< the program and the model, in all steps
  std::size_t copy = 0;                        ///< of the model while it is written
  std::size_t photo = 0;                       ///< to read a photo
  std::size_t images = 0;                      ///< of a view and its sources, and its mask
  std::vector<Stream> streams;                 ///< none where nothing is estimated
  std::size_t check = 0;                       ///< of a view; 0: none is checked, nor fused
  std::size_t planes = 0;                      ///< of all views, while planes are searched
  std::size_t areas = 0;                       ///< of a view whose areas get planes
  std::size_t writing = 0;                     ///< of the maps of an estimated view
  std::size_t view = 0;                        ///< of the maps that fusion holds of a view
  std::size_t map_cache = 0, photo_cache = 0;  ///< of all views
  std::size_t view_pixels = 0;
  std::size_t most_views = 0;    ///< that are fused at a time
  std::size_t marked_views = 0;  ///< see views_marked_at_once
  std::size_t load = 0;          ///< of the maps and the photo of a view that is fused
  int spacing = 1;               ///< see FusionOptions
  std::size_t device_bytes = 0;  ///< of the matching, on the device
  int tiles = 1;

  /// @param threads  of each stream, one of which matches
  /// @param photos   that each thread reads concurrently
  std::size_t estimation(int threads, int photos) const;
  /// @param held_views  whose maps are in memory or in files, as many as are fused at a time or more
  std::size_t fusion(std::size_t held_views, FusionMemory memory) const;
  /// All steps with the least work side by side.
  std::size_t least(int threads_a_stream, FusionMemory memory) const;
};

/// @throws OutOfMemory when a view does not fit on a backend
SceneMemory scene_memory(const ScenePlan& plan, const SceneSettings& settings, const Backends& backends);

}  // namespace recon
