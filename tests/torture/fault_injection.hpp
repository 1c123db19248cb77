#pragma once

#include <cstdint>
#include <vector>

namespace recon {

/// What happens in a run, and from which call of `fault_point` on.
struct Fault {
  enum Kind {
    kInterrupt,       ///< the user asks to stop: all work from now on
    kOneInterrupted,  ///< one piece of work alone
    kDiskFull,        ///< no file can be created or written from now on
    kOneFileFails,    ///< one call alone
    kOneInputFails,   ///< one piece of work finds bad input
    kOneOutOfMemory,  ///< one piece of work gets no memory
    kKinds,
  };
  Kind kind = kInterrupt;
  std::uint64_t call = 0;
};

const char* name_of(Fault::Kind kind);

/// The exit codes of a run that met such a fault.
std::vector<int> exit_codes_of(Fault::Kind kind);

/// Lets a fault happen as long as it lives; one at a time.
class FaultInjection {
 public:
  explicit FaultInjection(Fault fault);
  ~FaultInjection();
  FaultInjection(const FaultInjection&) = delete;
  FaultInjection& operator=(const FaultInjection&) = delete;

  bool happened() const;
};

/// Counts the calls of `fault_point` as long as it lives; one at a time.
class FaultCount {
 public:
  FaultCount();
  ~FaultCount();
  FaultCount(const FaultCount&) = delete;
  FaultCount& operator=(const FaultCount&) = delete;

  /// The numbers of the calls for files, in rising order, and after them that of all calls: each step of the
  /// work lies between some of them, however many calls it makes.
  std::vector<std::uint64_t> marks() const;
};

}  // namespace recon
