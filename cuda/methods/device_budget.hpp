#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>

#include "core/error.hpp"
#include "methods/admission.hpp"

namespace recon::cuda {

/// Divides the memory of a device among concurrent calls and the images that it keeps from call to call. A
/// call is admitted to a stream with an equal share of the memory, or to several where it needs more. Images
/// get what is left if all streams do work like the largest so far; nothing while work needs more than a
/// share, nor for a while after they were in the way of work. Knows the device by `Device` alone.
/// Thread-safe.
class DeviceBudget {
 public:
  using Clock = std::chrono::steady_clock;

  /// What the budget does on the device.
  struct Device {
    std::function<void(int stream)> release;  ///< frees the memory that a stream keeps for its next call
    std::function<void(std::size_t bytes)> limit_images;  ///< returns when the images take no more
    std::function<void()> images_paused;                  ///< called at the first pause of images
    std::function<Clock::time_point()> now = Clock::now;
  };

  /// How long no images are kept after they were in the way: a shortage passes, and work that is done twice
  /// now and then costs little.
  static constexpr std::chrono::seconds kPauseOfImages{30};

  /// @param streams  >= 1
  /// @param bytes    of the device that may be used
  DeviceBudget(int streams, std::size_t bytes, Device device);

  std::size_t bytes() const { return bytes_; }
  /// Bytes that come with one stream.
  std::size_t share() const { return admission_.share(); }

  /// The streams of an admitted call, until it is destroyed. Where it has several, their memory is released
  /// at the beginning, and that of its own stream at the end.
  class Hold {
   public:
    Hold(DeviceBudget& budget, std::size_t bytes, bool alone);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

    /// The index of the stream that does the work; no other call has it.
    int stream() const { return permit_.streams().front(); }
    /// Bytes of all its streams.
    std::size_t bytes() const { return permit_.streams().size() * budget_.share(); }

   private:
    DeviceBudget& budget_;
    Admission::Permit permit_;
    const bool large_;
  };

  /// Waits for its turn and for enough streams, then for the images to leave the memory.
  /// @param bytes  of device memory that the work needs
  Hold admit(std::size_t bytes) { return {*this, bytes, false}; }

  /// The same for work that takes what the device has free, while no other stream has memory.
  Hold admit_alone() { return {*this, bytes_, true}; }

  /// Sets the limit of the images, which changes with time: for work that is not admitted.
  void limit_images() { limit_images(0); }

  /// Does `work`; if the device has too little memory for it, as other programs use it too, again without the
  /// images, which are then not kept for a while.
  /// @throws what `work` throws; OutOfMemory if it fails without images
  template <class Work>
  auto run(const Work& work) -> decltype(work()) {
    const bool kept = keeps_images();
    try {
      return work();
    } catch (const OutOfMemory&) {
      // Other work may have given them up since: what failed may have been with them nevertheless.
      if (!kept) throw;
    }
    pause_images();
    return work();
  }

 private:
  void limit_images(std::size_t bytes);
  bool keeps_images();
  void pause_images();

  const std::size_t bytes_;
  const Device device_;
  Admission admission_;
  std::mutex mutex_;                   ///< of what follows
  std::size_t max_bytes_ = 0;          ///< of a stream's work so far
  int large_ = 0;                      ///< work in progress that needs more than a share
  Clock::time_point no_images_until_;  ///< end of the last pause
  bool paused_before_ = false;
};

}  // namespace recon::cuda
