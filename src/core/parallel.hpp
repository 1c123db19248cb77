#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace recon {

/// Calls `body(i)` for i in [0, count), on all threads that the surrounding task arena has. Calls must not depend on
/// each other; the result is then the same for any number of threads.
template <class Body>
void parallel_for(int count, const Body& body, int grain = 1) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<int>(0, count, static_cast<std::size_t>(grain)),
                            [&](const oneapi::tbb::blocked_range<int>& range) {
                              for (int i = range.begin(); i != range.end(); ++i) body(i);
                            });
}

}  // namespace recon
