#include "session/products/filled_maps.hpp"

#include <algorithm>

#include "fuse/planes/fill_planes.hpp"
#include "io/image/image_file.hpp"
#include "session/products/masks.hpp"

namespace recon {

namespace {

std::string name_of(const ScenePlan& plan, int view) {
  return "filled " + plan.view(view).output_name;
}

}  // namespace

int plane_image_factor(const Pinhole& camera) {
  constexpr int kMaxSide = 640;
  return (std::max(camera.width, camera.height) + kMaxSide - 1) / kMaxSide;
}

FilledMaps::FilledMaps(SceneProducts& products, const DepthRange& bounds)
    : products_(products), bounds_(bounds), fills_(products.plan.views.size()) {
  const StepRecord* const found = products.results.get({Step::kPlanes});
  if (found == nullptr) return;
  for (const nlohmann::json& plane : found->result.at("planes")) {
    const auto number = [&](std::size_t i) { return plane.at(i).get<double>(); };
    planes_.push_back({{number(0), number(1), number(2)}, number(3)});
  }
  for (const int view : products.plan.views_in_scope())
    fills_[view] = found->result.at("areas").contains(products.plan.view(view).output_name);
}

bool FilledMaps::fills(int view) const {
  return fills_[view];
}

std::shared_ptr<const ViewDepth> FilledMaps::get(int view) const {
  const ViewPlan& plan = products_.plan.view(view);
  if (!fills(view)) return products_.maps.get(MapKind::kPhotometric, plan.output_name, plan.camera);
  return products_.maps.derived(name_of(products_.plan, view), [&] { return filled(view); });
}

std::shared_ptr<const ViewDepth> FilledMaps::filled(int view) const {
  const ViewPlan& plan = products_.plan.view(view);
  const auto maps = products_.maps.take(MapKind::kPhotometric, plan.output_name, plan.camera);
  auto result = std::make_shared<ViewDepth>(
      ViewDepth{maps->depth.clone(), maps->normal.clone(), maps->confidence.clone()});
  const std::filesystem::path file = products_.workspace.path(Workspace::plane_file(plan.output_name));
  const Image<std::uint8_t> labels = read_grey_image(file);
  const int factor = plane_image_factor(plan.camera);
  if (labels.width() != plan.camera.width / factor || labels.height() != plan.camera.height / factor)
    throw InputError(file.string() + ": the areas have " + size_text(labels.width(), labels.height()) +
                     " pixels, of a view of " + size_text(plan.camera.width, plan.camera.height) +
                     "; remove it, and it is made again");
  const Image<std::uint8_t> mask = prepared_mask(products_, view);
  fill_planes(labels.view(), factor, planes_, plan.camera, products_.plan.scene_view(view).cam_from_world,
              bounds_, {result->depth.view(), result->normal.view(), result->confidence.view(), mask.view()});
  return result;
}

void FilledMaps::release(int view) const {
  products_.maps.release(MapKind::kPhotometric, products_.plan.view(view).output_name);
  products_.maps.release_derived(name_of(products_.plan, view));
}

}  // namespace recon
