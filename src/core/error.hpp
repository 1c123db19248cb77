#pragma once

#include <stdexcept>
#include <string>

namespace recon {

/// Base of all errors reported to the user; `exit_code` is the exit code of the process.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// Wrong use of the command line or of an option.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(2, message) {}
};

/// Bad input; the message names the file and the line or byte, the value found, and what to do.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(3, message) {}
};

/// Results cannot be written (no permission, disk full).
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& message) : Error(1, message) {}
};

/// Host or device memory does not suffice; the message states how much was needed and which option lowers it.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(4, message) {}
};

/// The requested device does not exist or cannot be used by this build.
class DeviceUnavailable : public Error {
 public:
  explicit DeviceUnavailable(const std::string& message) : Error(5, message) {}
};

/// A device call failed; the message names the call and its source location.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(1, message) {}
};

/// The user asked to stop (Ctrl-C); finished work is kept.
class Interrupted : public Error {
 public:
  Interrupted() : Error(130, "interrupted") {}
};

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
