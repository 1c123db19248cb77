// <reconstruct/matcher.hpp> and <reconstruct/sweeper.hpp> for Python. Names, defaults and documentation are
// in reconstruct/_live.py.

#include <reconstruct/matcher.hpp>
#include <reconstruct/sweeper.hpp>
#include <utility>

#include "native_device.hpp"

namespace {

using namespace reconstruct;

PixelType type_of(int channels) {
  return channels == 3 ? PixelType::kRgb8 : PixelType::kGrey8;
}

/// @param values  with their memory; a map of the size, or several one after the other
template <class T>
DeviceValues values_of(const DeviceMapOf<T>& first, std::vector<std::int64_t> shape) {
  return {{first.data, reinterpret_cast<float*>(first.data.get())}, std::move(shape)};
}

void match_images(const Matcher& matcher, const py::tuple& left, const py::tuple& right, const py::tuple& map,
                  std::uintptr_t stream) {
  const DeviceImage images[] = {device_image(left), device_image(right)};
  const DeviceMapView result = device_map(map);
  const py::gil_scoped_release released;
  matcher.match(images[0], images[1], result, pointer(stream));
}

void match_batch(const Matcher& matcher, const std::vector<py::tuple>& left,
                 const std::vector<py::tuple>& right, const std::vector<py::tuple>& maps,
                 std::uintptr_t stream) {
  std::vector<DeviceImage> images[2];
  for (const py::tuple& image : left) images[0].push_back(device_image(image));
  for (const py::tuple& image : right) images[1].push_back(device_image(image));
  std::vector<DeviceMapView> results;
  for (const py::tuple& map : maps) results.push_back(device_map(map));
  const py::gil_scoped_release released;
  matcher.match_batch(images[0], images[1], results, pointer(stream));
}

DeviceValues new_maps(const Matcher& matcher, int count) {
  return values_of(matcher.new_maps(count).front(), {count, matcher.height(), matcher.width()});
}

/// @param view  image, camera, pose, mask or None
DeviceView view_of(const py::tuple& view) {
  const py::object mask = view[3];
  return {device_image(view[0]), camera_of(view[1]), pose_of(view[2]),
          mask.is_none() ? DeviceImage{} : device_image(mask)};
}

/// @param maps  depth, normal or None, confidence or None
DeviceDepthMapsView maps_of(const py::tuple& maps) {
  DeviceDepthMapsView result;
  result.depth = device_map(maps[0]);
  const py::object normal = maps[1], confidence = maps[2];
  if (!normal.is_none()) result.normal = device_vector_map(normal);
  if (!confidence.is_none()) result.confidence = device_map(confidence);
  return result;
}

void sweep_views(const Sweeper& sweeper, const py::tuple& reference, const std::vector<py::tuple>& sources,
                 const py::tuple& maps, std::uintptr_t stream, std::optional<double> depth_min,
                 std::optional<double> depth_max) {
  const DeviceView view = view_of(reference);
  std::vector<DeviceView> others;
  for (const py::tuple& source : sources) others.push_back(view_of(source));
  const DeviceDepthMapsView results = maps_of(maps);
  const py::gil_scoped_release released;
  sweeper.sweep(view, others, results, pointer(stream), {depth_min, depth_max});
}

py::tuple new_depth_maps(const Sweeper& sweeper) {
  const std::int64_t height = sweeper.height(), width = sweeper.width();
  const DeviceDepthMaps maps = [&] {
    const py::gil_scoped_release released;
    return sweeper.new_maps();
  }();
  return py::make_tuple(values_of(maps.depth, {height, width}), values_of(maps.normal, {height, width, 3}),
                        values_of(maps.confidence, {height, width}));
}

}  // namespace

/// Declared in native.cpp, which has the module.
void add_live(py::module_& module) {
  using WithoutGil = py::call_guard<py::gil_scoped_release>;
  py::class_<Matcher, std::unique_ptr<Matcher, DeleteWithoutGil>>(module, "Matcher")
      .def(py::init([](const Device& device, int width, int height, int channels, const Options& options) {
        const py::gil_scoped_release released;
        return Matcher(device, width, height, type_of(channels), options);
      }))
      .def("match", match_images)
      .def("match_batch", match_batch)
      .def(
          "order_after",
          [](const Matcher& it, std::uintptr_t stream) { it.order_after_match(pointer(stream)); },
          WithoutGil())
      .def(
          "new_map",
          [](const Matcher& it) {
            return values_of(it.new_map(), {it.height(), it.width()});
          },
          WithoutGil())
      .def("new_maps", new_maps, WithoutGil())
      .def_property_readonly("device", &Matcher::device)
      .def_property_readonly("nbytes", &Matcher::bytes);
  py::class_<Sweeper, std::unique_ptr<Sweeper, DeleteWithoutGil>>(module, "Sweeper")
      .def(py::init(
          [](const Device& device, int width, int height, int channels, int sources, const Options& options) {
            const py::gil_scoped_release released;
            return Sweeper(device, width, height, type_of(channels), sources, options);
          }))
      .def("sweep", sweep_views)
      .def(
          "order_after",
          [](const Sweeper& it, std::uintptr_t stream) { it.order_after_sweep(pointer(stream)); },
          WithoutGil())
      .def("new_maps", new_depth_maps)
      .def_property_readonly("device", &Sweeper::device)
      .def_property_readonly("nbytes", &Sweeper::bytes);
}
