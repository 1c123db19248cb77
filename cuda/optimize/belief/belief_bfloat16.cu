#include "cuda/optimize/belief/belief_launch.cuh"

namespace recon::cuda {

void launch_belief_bfloat16(const BeliefArgs& args, cudaStream_t stream) {
  launch_belief_stored_as<Bfloat16>(args, stream);
}

}  // namespace recon::cuda
