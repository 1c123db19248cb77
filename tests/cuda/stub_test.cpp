#include <gtest/gtest.h>

#include "core/error.hpp"
#include "cuda/testing/timing.hpp"
#include "methods/backend.hpp"
#include "methods/cuda_code.hpp"

namespace recon {
namespace {

TEST(BuildWithoutCuda, SaysSo) {
  EXPECT_TRUE(find_cuda_devices().usable.empty());
  EXPECT_EQ(find_cuda_devices().why_not, "this build has no CUDA");
  EXPECT_EQ(cuda_code_of_build(), "without CUDA");
  EXPECT_THROW(make_cuda_backend({}), DeviceUnavailable);
  EXPECT_THROW(cuda::time_stages(SweepProblem(), 1), DeviceUnavailable);
  EXPECT_THROW(cuda::time_stages(PairProblem(), 1), DeviceUnavailable);
  EXPECT_THROW(cuda::time_live(PairProblem(), 0, 1), DeviceUnavailable);
  EXPECT_THROW(cuda::time_naive_sweep({}, 1), DeviceUnavailable);
}

}  // namespace
}  // namespace recon
