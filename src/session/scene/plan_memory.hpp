#pragma once

#include <cstddef>
#include <map>

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

}  // namespace recon
