#include "cuda/methods/workspace.hpp"

#include <utility>

namespace recon::cuda {

void on_host(const DeviceVolume& costs, Workspace& workspace, const Stream& stream,
             const std::function<void(Volume<float> costs)>& work) {
  Volume<float> found(costs.width, costs.planes, costs.height);
  const VolumeView<float> view = found.view();
  workspace.staging.download(costs.data, costs.pitch,
                             {view.data, costs.width, costs.planes * costs.height, view.pitch}, stream);
  // In an arena of its own: a loop that waits here must not start other work of the calling thread, which
  // would wait for this stream.
  oneapi::tbb::task_arena host(workspace.host_threads);
  host.execute([&] { work(std::move(found)); });
}

}  // namespace recon::cuda
