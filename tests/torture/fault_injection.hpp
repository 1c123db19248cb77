#pragma once

#include <cstdint>
#include <vector>

namespace recon {

/// The kind of fault in a run, and the call of `fault_point` from which on it occurs.
struct Fault {
  enum Kind {
    kInterrupt,       ///< the user interrupts: affects all work from now on
    kOneInterrupted,  ///< one work item only
    kDiskFull,        ///< no file can be created or written from now on
    kOneFileFails,    ///< one call only
    kOneInputFails,   ///< one work item finds bad input
    kOneOutOfMemory,  ///< one work item runs out of memory
    kKinds,
  };
  Kind kind = kInterrupt;
  std::uint64_t call = 0;
};

const char* name_of(Fault::Kind kind);

/// The exit codes of a run with such a fault.
std::vector<int> exit_codes_of(Fault::Kind kind);

/// Injects a fault during its lifetime; one at a time.
class FaultInjection {
 public:
  explicit FaultInjection(Fault fault);
  ~FaultInjection();
  FaultInjection(const FaultInjection&) = delete;
  FaultInjection& operator=(const FaultInjection&) = delete;

  bool happened() const;
};

/// Counts the calls of `fault_point` during its lifetime; one at a time.
class FaultCount {
 public:
  FaultCount();
  ~FaultCount();
  FaultCount(const FaultCount&) = delete;
  FaultCount& operator=(const FaultCount&) = delete;

  /// The indices of the calls for files, in ascending order, and after them the total number of calls: each
  /// step of the work lies between two of them, regardless of its number of calls.
  std::vector<std::uint64_t> marks() const;
};

}  // namespace recon
