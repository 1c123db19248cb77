#include "methods/admission.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace recon {

Admission::Admission(int streams, std::size_t memory)
    : streams_(streams), share_(memory / static_cast<std::size_t>(std::max(streams, 1))) {
  EXPECTS(streams >= 1);
  for (int i = streams - 1; i >= 0; --i) free_.push_back(i);
}

Admission::Permit::Permit(Admission& admission, std::size_t bytes) : admission_(admission) {
  const std::size_t share = std::max<std::size_t>(admission.share_, 1);
  const auto needed = std::clamp<std::size_t>(bytes / share + (bytes % share != 0), 1,
                                              static_cast<std::size_t>(admission.streams_));
  streams_.reserve(needed);
  std::unique_lock lock(admission.mutex_);
  const auto turn = admission.arrived_++;
  admission.changed_.wait(lock,
                          [&] { return admission.admitted_ == turn && admission.free_.size() >= needed; });
  ++admission.admitted_;
  streams_.assign(admission.free_.rbegin(), admission.free_.rbegin() + static_cast<std::ptrdiff_t>(needed));
  admission.free_.resize(admission.free_.size() - needed);
  lock.unlock();
  admission.changed_.notify_all();
}

Admission::Permit::~Permit() {
  {
    const std::lock_guard lock(admission_.mutex_);
    admission_.free_.insert(admission_.free_.end(), streams_.rbegin(), streams_.rend());
  }
  admission_.changed_.notify_all();
}

}  // namespace recon
