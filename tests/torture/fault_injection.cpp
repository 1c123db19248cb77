#include "torture/fault_injection.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "core/error.hpp"
#include "core/interrupt.hpp"

namespace recon {

namespace {

// The handler is a plain function, so its state is global.
Fault fault;
std::atomic<std::uint64_t> calls{0};
std::atomic<bool> fault_happened{false};
std::mutex marks_mutex;
std::vector<std::uint64_t> file_calls;

bool is_for_files(Fault::Kind kind) {
  return kind == Fault::kDiskFull || kind == Fault::kOneFileFails;
}

bool goes_on(Fault::Kind kind) {
  return kind == Fault::kInterrupt || kind == Fault::kDiskFull;
}

[[noreturn]] void fail(Fault::Kind kind) {
  switch (kind) {
    case Fault::kInterrupt:
    case Fault::kOneInterrupted:
      throw Interrupted();
    case Fault::kOneInputFails:
      throw InputError("an input that fails for the test");
    case Fault::kOneOutOfMemory:
      throw std::bad_alloc();
    default:
      throw OutputError("a file that fails for the test");
  }
}

void on_call(FaultPoint point) {
  if (calls++ < fault.call || (point != FaultPoint::kWork) != is_for_files(fault.kind)) return;
  if (fault_happened.exchange(true) && !goes_on(fault.kind)) return;
  fail(fault.kind);
}

void count_call(FaultPoint point) {
  const std::uint64_t call = calls++;
  if (point == FaultPoint::kWork) return;
  const std::lock_guard lock(marks_mutex);
  file_calls.push_back(call);
}

}  // namespace

const char* name_of(Fault::Kind kind) {
  static constexpr const char* kNames[] = {"interrupt",      "one interrupted", "disk full",
                                           "one file fails", "one input fails", "one out of memory"};
  static_assert(std::size(kNames) == Fault::kKinds);
  return kNames[kind];
}

std::vector<int> exit_codes_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::kInterrupt:
    case Fault::kOneInterrupted:
      return {130};
    case Fault::kOneInputFails:
      return {3, 7};
    case Fault::kOneOutOfMemory:
      return {4};
    default:
      return {1};
  }
}

FaultInjection::FaultInjection(Fault it) {
  fault = it;
  calls = 0;
  fault_happened = false;
  set_fault_handler(on_call);
}

FaultInjection::~FaultInjection() {
  set_fault_handler(nullptr);
}

bool FaultInjection::happened() const {
  return fault_happened;
}

FaultCount::FaultCount() {
  calls = 0;
  file_calls.clear();
  set_fault_handler(count_call);
}

FaultCount::~FaultCount() {
  set_fault_handler(nullptr);
}

std::vector<std::uint64_t> FaultCount::marks() const {
  std::vector<std::uint64_t> marks = file_calls;
  std::sort(marks.begin(), marks.end());
  marks.push_back(calls);
  return marks;
}

}  // namespace recon
