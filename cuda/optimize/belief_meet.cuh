#pragma once

/// How blocks of a cooperative kernel wait for each other.

namespace recon::cuda {

/// Adds to a counter; who reads the sum with load_acquired sees what was written before.
__device__ inline unsigned add_released(unsigned* counter, unsigned value) {
  unsigned before;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(value)
               : "memory");
  return before;
}

/// Reads a counter, and nothing else becomes visible.
__device__ inline unsigned load_relaxed(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return value;
}

/// Reads a counter and drops the first cache of the multiprocessor.
__device__ inline unsigned load_acquired(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return value;
}

/// Lets blocks 0 .. blocks - 1 of the grid meet, all of which have to run at a time. The counter's upper bit
/// changes when the last one has come; its other bits are 0 before and after.
__device__ inline void meet(unsigned* counter, int blocks) {
  __syncthreads();
  if (blocks == 1) return;
  if (threadIdx.x == 0) {
    constexpr unsigned kTurn = 0x80000000u;
    const unsigned own = blockIdx.x == 0 ? kTurn - static_cast<unsigned>(blocks - 1) : 1u;
    const unsigned before = add_released(counter, own);
    // Other blocks of this multiprocessor may still work with the first cache: it is dropped only at the end.
    while (((load_relaxed(counter) ^ before) & kTurn) == 0) {
    }
    load_acquired(counter);
  }
  __syncthreads();
}

}  // namespace recon::cuda
