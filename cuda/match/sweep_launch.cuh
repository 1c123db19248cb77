#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/error.hpp"
#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {

/// One instance of the sweep kernel, with its launch parameters.
struct SweepInstance {
  void (*kernel)(SweepArgs);
  int threads;
  std::size_t shared_bytes;
};

template <class Cost, class Combine, class Sink, int BlocksPerMultiprocessor>
SweepInstance sweep_instance() {
  return {&sweep_kernel<Cost, Combine, Sink, BlocksPerMultiprocessor>, kThreads<Cost>,
          sizeof(BlockShared<Cost>)};
}

/// The instances of each cost by combination, for a window radius of 1 .. 7.
enum class CombineKind { kBest1, kBest2, kAny };
SweepInstance grey_sad_instance(int radius, CombineKind combine);
SweepInstance fused_sad_instance(int radius, CombineKind combine);
SweepInstance colour_sad_instance(int radius, CombineKind combine);
SweepInstance zncc_instance(int radius, CombineKind combine);

/// `Table<Radius>::get(combine)` for the radius given at run time.
template <template <int> class Table>
SweepInstance instance_of_radius(int radius, CombineKind combine) {
  switch (radius) {
    case 1:
      return Table<1>::get(combine);
    case 2:
      return Table<2>::get(combine);
    case 3:
      return Table<3>::get(combine);
    case 4:
      return Table<4>::get(combine);
    case 5:
      return Table<5>::get(combine);
    case 6:
      return Table<6>::get(combine);
    default:
      EXPECTS(radius == 7);
      return Table<7>::get(combine);
  }
}

}  // namespace recon::cuda
