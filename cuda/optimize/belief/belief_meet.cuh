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
class Meeting {
 public:
  __device__ Meeting(unsigned* counter, int blocks) : counter_(counter), blocks_(blocks) {}

  /// What the block has written before is for all to read after `wait`.
  __device__ void arrive() {
    __syncthreads();
    if (blocks_ == 1 || threadIdx.x > 0) return;
    before_ = add_released(counter_, blockIdx.x == 0 ? kTurn - static_cast<unsigned>(blocks_ - 1) : 1u);
  }

  __device__ void wait() const {
    if (blocks_ == 1) return;
    if (threadIdx.x == 0) {
      // Other blocks of this multiprocessor may still work with the first cache: it is dropped only at the
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
