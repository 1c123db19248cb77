#include <gtest/gtest.h>

#include "core/error.hpp"
#include "cuda/testing/cuda_pairs.hpp"
#include "cuda/testing/cuda_pipeline.hpp"
#include "cuda/testing/cuda_sweep.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace {

TEST(BuildWithoutCuda, SaysSo) {
  EXPECT_TRUE(find_cuda_devices().names.empty());
  EXPECT_EQ(find_cuda_devices().why_none, "this build has no CUDA");
  EXPECT_THROW(make_cuda_backend({}), DeviceUnavailable);
  EXPECT_THROW(cuda::count_wrong_reciprocals(), DeviceUnavailable);
  EXPECT_THROW(cuda::run_pair({}, 0), DeviceUnavailable);
  EXPECT_THROW(cuda::time_pipeline({}, 1), DeviceUnavailable);
}

}  // namespace
}  // namespace recon
