#pragma once

#include "core/error.hpp"
#include "cuda/optimize/semi_global/path_vector.cuh"

namespace recon::cuda {

/// Calls `work` with the smallest shape that holds `planes`.
template <class Work>
void with_path_shape(int planes, const Work& work) {
  EXPECTS(planes >= 1 && planes <= 4096);
  if (planes <= 64) return work(PathShape<4, 16>{});
  if (planes <= 128) return work(PathShape<8, 16>{});
  if (planes <= 256) return work(PathShape<16, 16>{});
  if (planes <= 512) return work(PathShape<32, 16>{});
  if (planes <= 1024) return work(PathShape<32, 32>{});
  work(PathShape<32, 128>{});
}

}  // namespace recon::cuda
