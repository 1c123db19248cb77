#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "cuda/device/error.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/testing/support.hpp"
#include "reconstruct/device.hpp"
#include "reconstruct/device_image.hpp"

/// For tests of public calls on device memory.

namespace recon::test {

inline reconstruct::Device gpu() {
  return reconstruct::Device({.device = "cuda", .threads = 2, .memory_limit = {}, .gpu_memory_limit = {}});
}

inline Image<float> downloaded(const reconstruct::DeviceMapView& map, cuda::Call& call, int width) {
  return call.download(map.data, map.pitch / static_cast<std::ptrdiff_t>(sizeof(float)), width, map.height);
}

/// Equal in every bit, NaN too.
inline ::testing::AssertionResult same_bits(const Image<float>& found,
                                            const reconstruct::Map<float>& expected) {
  int differ = 0;
  for (int y = 0; y < expected.height; ++y)
    for (int x = 0; x < expected.width; ++x)
      differ += std::memcmp(&found(x, y), &expected(x, y), sizeof(float)) != 0 ? 1 : 0;
  if (differ == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << differ << " pixels differ";
}

/// Keeps a stream at work for a while.
inline void delay(cudaStream_t stream) {
  RECON_CUDA_TRY(cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }, nullptr));
}

/// Bytes of its own that the driver may take meanwhile.
inline constexpr std::size_t kOfTheDriver = std::size_t{4} << 20;

}  // namespace recon::test
