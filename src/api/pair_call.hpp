#pragma once

#include "methods/stereo/pair.hpp"
#include "session/options/options.hpp"

namespace reconstruct::detail {

/// The method of a pair in memory and the disparities that it searches.
/// @throws UsageError without a max, and where method or range do not fit images of this size
recon::PairSpec pair_spec(const recon::PairJob& job, int width, int height);

}  // namespace reconstruct::detail
