#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "fuse/fusion.hpp"
#include "methods/backend.hpp"
#include "session/plan/plan.hpp"
#include "session/products/host_memory.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// How a limit of memory is divided. Results do not depend on it.
struct MemoryPlan {
  std::size_t limit = 0;            ///< of the whole program, bytes
  std::size_t peak = 0;             ///< predicted max, including caches
  bool gpu = false;                 ///< that the views are worked on by
  std::size_t device_peak = 0;      ///< on the GPU, to estimate one view
  std::size_t photo_cache = 0;      ///< for undistorted images
  std::size_t map_cache = 0;        ///< for maps before and after the check
  bool keeps_maps = false;          ///< it holds those of all views
  std::size_t returned_block = 0;   ///< see return_freed_memory
  int tiles = 1;                    ///< max tiles of a view
  int threads_a_stream = 1;         ///< the others filter views while the next one is swept
  int photos_a_thread = 1;          ///< that each of them reads concurrently
  int check_at_once = 1;            ///< views checked concurrently
  int checks_beside = 0;            ///< views checked concurrently with the estimation; 0: none
  int writes_waiting = 1;           ///< finished views that may wait to be written
  bool model_beside = false;        ///< the undistorted model is written beside the estimation
  int fusion_views = 2;             ///< maps that fusion holds
  bool fusion_reads_ahead = false;  ///< those of the next view meanwhile
  bool fusion_beside = false;       ///< fusion begins beside estimation and check
  std::size_t fusion_files = 0;     ///< bytes of them in temporary files; 0: in memory
  std::map<Step, std::size_t>
      of_step;  ///< bytes that a task of a step takes at most, as far as it is counted
};

/// @throws OutOfMemory when a view cannot be done within the limit, or within that of a device
MemoryPlan plan_memory(const ScenePlan& plan, const SceneSettings& settings, const Backends& backends,
                       const HostLimits& host);

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
