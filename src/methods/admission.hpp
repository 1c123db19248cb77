#pragma once

#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <vector>

namespace recon {

/// Admits concurrent work to the streams of a device, first come, first served. Each stream comes with an
/// equal share of the device's memory; work that needs more than a share gets several streams, so that all
/// admitted work fits into the memory.
class Admission {
 public:
  /// @param streams  >= 1
  /// @param memory   bytes of the device
  explicit Admission(int streams, std::size_t memory = std::numeric_limits<std::size_t>::max());

  int streams() const { return streams_; }

  /// Memory that comes with one stream, bytes.
  std::size_t share() const { return share_; }

  /// The streams of admitted work, until it is destroyed.
  class Permit {
   public:
    Permit(Admission& admission, std::size_t bytes);
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit();

    /// Indices in [0, streams()), at least one; no other permit has them.
    const std::vector<int>& streams() const { return streams_; }

   private:
    Admission& admission_;
    std::vector<int> streams_;
  };

  /// Waits until earlier work is admitted and enough streams are free.
  /// @param bytes  of device memory that the work needs; more than the device has counts as all of it
  Permit admit(std::size_t bytes = 0) { return {*this, bytes}; }

 private:
  const int streams_;
  const std::size_t share_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> free_;
  unsigned long long arrived_ = 0, admitted_ = 0;  ///< work so far
};

}  // namespace recon
