#include "cuda/optimize/belief/belief_launch.cuh"

namespace recon::cuda {

void launch_belief_half(const BeliefArgs& args, cudaStream_t stream) {
  launch_belief_stored_as<Half>(args, stream);
}

}  // namespace recon::cuda
