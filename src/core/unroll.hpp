#pragma once

/// RECON_UNROLL before a loop over an array that a GPU keeps in registers, where indices have to be
/// constants; RECON_ROLL before a loop whose body is too long to be repeated. On the CPU the compiler
/// decides.
#if defined(__CUDA_ARCH__)
#define RECON_UNROLL _Pragma("unroll")
#define RECON_ROLL _Pragma("unroll 1")
#else
#define RECON_UNROLL
#define RECON_ROLL
#endif
