#include "session/products/small_views.hpp"

#include <string>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "session/products/masks.hpp"

namespace recon {

std::vector<CalibratedView> small_cameras(const ScenePlan& plan) {
  std::vector<CalibratedView> views;
  std::map<std::string, int> photos;
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    const Pinhole& camera = plan.views[i].camera;
    const View& view = plan.scene_view(static_cast<int>(i));
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
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const CornerMatch& it : matches[i]) all.push_back({pairs[i].first, pairs[i].second, it});
    matches[i] = {};
  }
  return all;
}

void SmallViews::add(const ViewPairs& pairs) {
  const bool prepared = views_ == SmallViewsOf::kPrepared;
  std::map<std::string, std::vector<int>> by_photo;  // prepared views are cached, each by itself
  for (const auto& [reference, source] : pairs)
    for (const int view : {reference, source})
      if (const View& it = plan_.scene_view(view); images_.emplace(view, Images()).second)
        by_photo[prepared ? it.name : it.photo_name()].push_back(view);
  std::vector<std::vector<int>> photos;
  for (auto& [name, views] : by_photo) photos.push_back(std::move(views));
  const int at_once = prepared ? photos_at_once(plan_, host_) : photos_at_once(plan_.scene, host_);
  bounded_parallel_for(static_cast<int>(photos.size()), at_once, [&](int i) {
    check_interrupted();
    if (prepared)
      images_.at(photos[i].front()) = read_prepared(photos[i].front());
    else
      add_unprepared(photos[i]);
  });
}

void SmallViews::add_unprepared(const std::vector<int>& views_of_photo) {
  PhotoStore& store = products_.photos;
  const int first = views_of_photo.front();
  try {
    std::string damage;  // said when the view is prepared
    const Image<Rgb8> photo = store.decode(plan_, first, store.read(plan_, first), damage);
    const View& it = plan_.scene_view(first);
    Image<std::uint8_t> photo_mask;
    if (!it.mask_file.empty()) photo_mask = read_mask(it, plan_.photo_camera(first));
    for (const int view : views_of_photo) {
      Image<std::uint8_t> mask;
      if (!photo_mask.empty()) mask = undistorted_mask(plan_, view, photo_mask.view());
      images_.at(view) = small_images(
          view, split_channels(*store.add(plan_, view, photo), false, 0).front().view(), std::move(mask));
    }
  } catch (const InputError&) {
  }
}

SmallViews::Images SmallViews::read_prepared(int view) const {
  const auto channels = products_.photos.channels(plan_, view);
  return small_images(view, channels->front().view(), prepared_mask(products_, view));
}

SmallViews::Images SmallViews::small_images(int view, ImageView<const std::uint8_t> grey,
                                            Image<std::uint8_t> mask) const {
  const Pinhole& camera = plan_.view(view).camera;
  const int factor = small_view_factor(camera.width, camera.height);
  Images images{averaged(grey, factor), {}, {}};
  if (!mask.empty()) images.mask = averaged(mask.view(), factor);
  images.corners = find_corners({{}, {}, images.pixels.view(), images.mask.view()});
  return images;
}

SmallView SmallViews::small(int view, const std::vector<CalibratedView>& views) const {
  const Images& images = images_.at(view);
  return {views[view].camera, views[view].cam_from_world, images.pixels.view(), images.mask.view()};
}

}  // namespace recon
