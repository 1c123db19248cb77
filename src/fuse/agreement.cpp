#include "fuse/agreement.hpp"

namespace recon {

Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                 const ConsistencyOptions& options) {
  const auto view_of = [](const DepthSource& source, const DepthSource::Maps& maps) {
    return DepthView{source.camera, source.cam_from_world, maps.depth, maps.normal, {}};
  };
  const DepthSource::Maps maps = reference.load();
  Image<Agreement> counts(maps.depth.width, maps.depth.height, {});
  for (const DepthSource& source : sources) {
    const DepthSource::Maps others = source.load();
    count_agreement(view_of(reference, maps), view_of(source, others), options, counts.view());
  }
  return counts;
}

}  // namespace recon
