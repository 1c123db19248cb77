#pragma once

/// RECON_HD marks a function of the shared maths: one definition, compiled for the CPU and, by nvcc, for the
/// GPU too.
#if defined(__CUDACC__)
#define RECON_HD __host__ __device__ inline
#else
#define RECON_HD inline
#endif
