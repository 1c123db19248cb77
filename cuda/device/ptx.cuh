#pragma once

#include <cstdint>

/// Instructions that the compiler does not choose by itself.

namespace recon::cuda {

/// The address of an object in shared memory, as load_word and store_word take it.
__device__ __forceinline__ unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

/// The word `Offset` bytes after an address in shared memory; the sum of the two costs no instruction.
template <int Offset>
__device__ __forceinline__ std::uint32_t load_word(unsigned from) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(word) : "r"(from), "n"(Offset) : "memory");
  return word;
}
template <int Offset>
__device__ __forceinline__ void store_word(unsigned to, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0+%1], %2;" ::"r"(to), "n"(Offset), "r"(word) : "memory");
}

/// Stores a word in shared memory. A thread of the block that loads it by load_acquired sees what this
/// thread, and those that it synchronized with, wrote before.
__device__ __forceinline__ void store_released(unsigned to, std::uint32_t word) {
  asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}
__device__ __forceinline__ std::uint32_t load_acquired(unsigned from) {
  std::uint32_t word;
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}

/// Adds the value of the lane `step` below, if it exists.
__device__ __forceinline__ void add_lane_before(std::uint32_t& value, int step) {
  asm("{\n\t"
      ".reg .pred there;\n\t.reg .b32 before;\n\t"
      "shfl.sync.up.b32 before|there, %0, %1, 0, -1;\n\t"
      "@there add.u32 %0, before, %0;\n\t}"
      : "+r"(value)
      : "r"(step));
}

}  // namespace recon::cuda
