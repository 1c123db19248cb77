#pragma once

/// Barriers between thread blocks of a cooperative kernel.

namespace recon::cuda {

/// Atomic add with release semantics: a load_acquired that reads the sum sees all earlier writes.
__device__ inline unsigned add_released(unsigned* counter, unsigned value) {
  unsigned before;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(value)
               : "memory");
  return before;
}

/// Relaxed load of a counter.
__device__ inline unsigned load_relaxed(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return value;
}

/// Acquire load of a counter; invalidates the L1 cache of the multiprocessor.
__device__ inline unsigned load_acquired(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return value;
}

/// A barrier of thread blocks 0 .. blocks - 1 of the grid, all of which have to be resident. The upper bit of
/// the counter flips when the last one arrives; its other bits are 0 before and after.
class Meeting {
 public:
  __device__ Meeting(unsigned* counter, int blocks) : counter_(counter), blocks_(blocks) {}

  /// Earlier writes of the thread block are visible to all after `wait`.
  __device__ void arrive() {
    __syncthreads();
    if (blocks_ == 1 || threadIdx.x > 0) return;
    before_ = add_released(counter_, blockIdx.x == 0 ? kTurn - static_cast<unsigned>(blocks_ - 1) : 1u);
  }

  __device__ void wait() const {
    if (blocks_ == 1) return;
    if (threadIdx.x == 0) {
      // Other thread blocks of this multiprocessor may still use the L1 cache: it is invalidated only at the
      // end.
      while (((load_relaxed(counter_) ^ before_) & kTurn) == 0) {
      }
      load_acquired(counter_);
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned kTurn = 0x80000000u;
  unsigned* counter_;
  int blocks_;
  unsigned before_ = 0;
};

}  // namespace recon::cuda
