#include "session/products/filled_maps.hpp"

#include <algorithm>
#include <set>

#include "fuse/planes/fill_planes.hpp"
#include "fuse/planes/fill_prior.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "refine/normals.hpp"
#include "scene/corner_matches.hpp"
#include "session/products/masks.hpp"

namespace recon {

namespace {

std::string name_of(const ScenePlan& plan, int view, FilledMaps::By by) {
  return (by == FilledMaps::By::kPrior ? "filled by prior " : "filled ") + plan.view(view).output_name;
}

/// @throws InputError where the image of a file is not that of the view in small
void check_size(const std::filesystem::path& file, const Pinhole& camera, int width, int height) {
  const Pinhole small = averaged(camera, plane_image_factor(camera));
  if (width != small.width || height != small.height)
    throw InputError(file.string() + ": has " + size_text(width, height) + " pixels, of a view of " +
                     size_text(camera.width, camera.height) + "; remove it, and it is made again");
}

}  // namespace

int plane_image_factor(const Pinhole& camera) {
  constexpr int kMaxSide = 640;
  return (std::max(camera.width, camera.height) + kMaxSide - 1) / kMaxSide;
}

void fill_by_prior(ImageView<const float> prior, const Pinhole& camera, const DepthRange& bounds,
                   const CheckedMaps& maps) {
  const int factor = plane_image_factor(camera);
  const Image<Vec3f> normals = normals_from_depth(prior, averaged(camera, factor));
  fill_prior(prior, normals.view(), factor, bounds, maps);
}

FilledMaps::FilledMaps(SceneProducts& products, const DepthRange& bounds)
    : products_(products),
      bounds_(bounds),
      by_planes_(products.plan.views.size()),
      by_prior_(products.plan.views.size()) {
  const StepRecord* const found = products.results.get({Step::kPlanes});
  if (found == nullptr) return;
  for (const nlohmann::json& plane : found->result.at("planes")) {
    const auto number = [&](std::size_t i) { return plane.at(i).get<double>(); };
    planes_.push_back({{number(0), number(1), number(2)}, number(3)});
  }
  std::set<std::string> files;
  for (const OutputFile& it : found->outputs) files.insert(it.name);
  for (const int view : products.plan.views_in_scope()) {
    by_planes_[view] = files.contains(Workspace::plane_file(products.plan.view(view).output_name));
    by_prior_[view] = files.contains(Workspace::prior_file(products.plan.view(view).output_name));
  }
}

FilledMaps::By FilledMaps::filled_by(int view) const {
  return by_prior_[view] ? By::kPrior : by_planes_[view] ? By::kPlanes : By::kNothing;
}

std::shared_ptr<const ViewDepth> FilledMaps::get(int view, By by) const {
  const ViewPlan& plan = products_.plan.view(view);
  if (by == By::kPrior && !by_prior_[view]) by = By::kPlanes;
  if (by == By::kPlanes && !by_planes_[view]) by = By::kNothing;
  if (by == By::kNothing) return products_.maps.get(MapKind::kPhotometric, plan.output_name, plan.camera);
  return products_.maps.derived(name_of(products_.plan, view, by), [&] { return filled(view, by); });
}

std::shared_ptr<const ViewDepth> FilledMaps::filled(int view, By by) const {
  const ViewPlan& plan = products_.plan.view(view);
  const auto maps = by == By::kPrior
                        ? get(view, By::kPlanes)
                        : products_.maps.take(MapKind::kPhotometric, plan.output_name, plan.camera);
  auto result = std::make_shared<ViewDepth>(
      ViewDepth{maps->depth.clone(), maps->normal.clone(), maps->confidence.clone()});
  const Image<std::uint8_t> mask = prepared_mask(products_, view);
  const CheckedMaps filled{result->depth.view(), result->normal.view(), result->confidence.view(),
                           mask.view()};
  const int factor = plane_image_factor(plan.camera);
  if (by == By::kPlanes) {
    const std::filesystem::path file = products_.workspace.path(Workspace::plane_file(plan.output_name));
    const Image<std::uint8_t> labels = read_grey_image(file);
    check_size(file, plan.camera, labels.width(), labels.height());
    fill_planes(labels.view(), factor, planes_, plan.camera, products_.plan.scene_view(view).cam_from_world,
                bounds_, filled);
  }
  if (by == By::kPrior) {
    const std::filesystem::path file = products_.workspace.path(Workspace::prior_file(plan.output_name));
    const Image<float> prior = read_depth_map(file);
    check_size(file, plan.camera, prior.width(), prior.height());
    fill_by_prior(prior.view(), plan.camera, bounds_, filled);
  }
  return result;
}

void FilledMaps::release(int view) const {
  products_.maps.release(MapKind::kPhotometric, products_.plan.view(view).output_name);
  for (const By by : {By::kPlanes, By::kPrior})
    products_.maps.release_derived(name_of(products_.plan, view, by));
}

}  // namespace recon
