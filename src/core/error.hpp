#pragma once

#include <reconstruct/error.hpp>
#include <stdexcept>
#include <string>

namespace recon {

using reconstruct::DeviceError;
using reconstruct::DeviceUnavailable;
using reconstruct::Error;
using reconstruct::InputError;
using reconstruct::Interrupted;
using reconstruct::OutOfMemory;
using reconstruct::OutputError;
using reconstruct::UsageError;

namespace detail {
[[noreturn]] void expectation_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace recon

/// Precondition of a public function; a violation is the caller's fault. Always on.
#define EXPECTS(condition)                                                                 \
  do {                                                                                     \
    if (!(condition)) ::recon::detail::expectation_failed(#condition, __FILE__, __LINE__); \
  } while (false)

/// Invariant of our own; a violation is our fault. Debug builds only.
#ifdef NDEBUG
#define ASSERT(condition) static_cast<void>(0)
#else
#define ASSERT(condition) EXPECTS(condition)
#endif
