#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "fuse/agreement.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/options/options.hpp"

namespace recon {

/// What the check of a view across views depends on.
struct CheckInputs {
  const ViewDepth& maps;  ///< before the check, with normals
  const DepthSource& view;
  const std::vector<DepthSource>& sources;
  const Image<Agreement>& agreement;   ///< of the sources, see count_agreement
  ImageView<const std::uint8_t> mask;  ///< 0: ignored; may be empty
};

/// The depths of a view that its sources confirm, and small holes filled; their confidence is the reliability
/// where the job refines patches. Deterministic for any number of threads.
/// @throws what loading a map throws
ViewDepth checked(const CheckInputs& inputs, const SessionOptions& options, Job job);

}  // namespace recon
