#include "session/scene/small_views.hpp"

#include <map>
#include <string>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"

namespace recon {

std::vector<CalibratedView> small_cameras(const SceneRun& run) {
  std::vector<CalibratedView> views;
  std::map<std::string, int> photos;
  for (std::size_t i = 0; i < run.plan.views.size(); ++i) {
    const Pinhole& camera = run.plan.views[i].camera;
    const View& view = run.plan.scene_view(static_cast<int>(i));
    const int photo = photos.emplace(view.photo_name(), static_cast<int>(i)).first->second;
    views.push_back({averaged(camera, small_view_factor(camera.width, camera.height)), view.cam_from_world,
                     view.face ? photo : -1});
  }
  return views;
}

std::vector<ViewMatch> SmallViews::matches(const ViewPairs& pairs, const std::vector<CalibratedView>& views) {
  add(pairs);
  std::vector<std::vector<CornerMatch>> matches(pairs.size());
  parallel_for(static_cast<int>(pairs.size()), [&](int i) {
    const auto& [reference, source] = pairs[i];
    matches[i] = match_corners(small(reference, views), images_.at(reference).corners, small(source, views),
                               images_.at(source).corners);
  });
  std::vector<ViewMatch> all;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (const CornerMatch& it : matches[i]) all.push_back({pairs[i].first, pairs[i].second, it});
  return all;
}

void SmallViews::add(const ViewPairs& pairs) {
  std::vector<int> views;
  for (const auto& [reference, source] : pairs)
    for (const int view : {reference, source})
      if (images_.emplace(view, Images()).second) views.push_back(view);
  bounded_parallel_for(static_cast<int>(views.size()),
                       photos_at_once(run_.plan, run_.memory.limit, run_.threads), [&](int i) {
                         check_interrupted();
                         try {
                           images_.at(views[i]) = read(views[i]);
                         } catch (const InputError&) {  // preparing the views says so
                         }
                       });
}

SmallView SmallViews::small(int view, const std::vector<CalibratedView>& views) const {
  const Images& images = images_.at(view);
  return {views[view].camera, views[view].cam_from_world, images.pixels.view(), images.mask.view()};
}

SmallViews::Images SmallViews::read(int view) const {
  const Pinhole& camera = run_.plan.view(view).camera;
  const int factor = small_view_factor(camera.width, camera.height);
  const auto channels = run_.photos.channels(run_.plan, view);
  Images images{averaged(channels->front().view(), factor), {}, {}};
  if (masked_)
    if (const Image<std::uint8_t> mask = prepared_mask(run_, view); !mask.empty())
      images.mask = averaged(mask.view(), factor);
  images.corners = find_corners({{}, {}, images.pixels.view(), images.mask.view()});
  return images;
}

}  // namespace recon
