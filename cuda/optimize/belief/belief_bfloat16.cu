#include "cuda/optimize/belief/belief_launch.cuh"

template void recon::cuda::launch_belief_stored_as<recon::Bfloat16>(const BeliefArgs&, cudaStream_t);
