#include "session/scene/estimate_pairs.hpp"

#include "core/parallel.hpp"
#include "session/plan/plan_pairs.hpp"

namespace recon {

ViewDepth estimate_from_pairs(SceneRun& run, Backend& backend, int view) {
  const std::vector<ViewPair>& pairs = run.plan.view(view).pairs;
  std::vector<int> images = {view};
  for (const ViewPair& it : pairs) images.push_back(it.source);
  std::vector<std::shared_ptr<const PhotoStore::Channels>> channels(images.size());
  parallel_for(static_cast<int>(images.size()), [&](int i) {
    const auto index = static_cast<std::size_t>(i);
    channels[index] = run.photos.channels(run.plan, images[index]);
  });
  std::vector<PairSource> sources;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    sources.push_back({posed_image(run.plan, pairs[i].source, *channels[i + 1]), pairs[i].pair});
  return estimate_view_from_pairs(backend, posed_image(run.plan, view, *channels.front()), sources,
                                  pair_depth_options(run.options));
}

}  // namespace recon
