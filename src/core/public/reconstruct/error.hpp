#pragma once

#include <stdexcept>
#include <string>

#include "reconstruct/export.hpp"

namespace reconstruct {

/// Base of all errors reported to the user; `exit_code` is the exit code of the process.
class RECONSTRUCT_API Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// Wrong use of the command line or of an option.
class RECONSTRUCT_API UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(2, message) {}
};

/// Bad input; the message names the file and the line or byte, the value found, and what to do.
class RECONSTRUCT_API InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(3, message) {}
};

/// Results cannot be written (no permission, disk full).
class RECONSTRUCT_API OutputError : public Error {
 public:
  explicit OutputError(const std::string& message) : Error(1, message) {}
};

/// Host or device memory does not suffice; the message states how much was needed and which option lowers it.
class RECONSTRUCT_API OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(4, message) {}
};

/// The requested device does not exist or cannot be used by this build.
class RECONSTRUCT_API DeviceUnavailable : public Error {
 public:
  explicit DeviceUnavailable(const std::string& message) : Error(5, message) {}
};

/// A device call failed; the message names the call and its source location.
class RECONSTRUCT_API DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(1, message) {}
};

/// The user asked to stop (Ctrl-C); finished work is kept.
class RECONSTRUCT_API Interrupted : public Error {
 public:
  Interrupted() : Error(130, "interrupted") {}
};

}  // namespace reconstruct
