// The calls of <reconstruct/...> for Python. Names, defaults and documentation are in
// reconstruct/__init__.py.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <reconstruct/fuse.hpp>
#include <reconstruct/scene.hpp>
#include <reconstruct/stereo.hpp>
#include <reconstruct/sweep.hpp>
#include <string>
#include <utility>
#include <vector>

#include "native_device.hpp"

/// Of native_matcher.cpp: adds what works in the memory of a GPU.
void add_live(py::module_& module);

reconstruct::Camera camera_of(const py::handle& numbers) {
  const auto values = numbers.cast<std::array<double, 4>>();
  return {values[0], values[1], values[2], values[3]};
}

reconstruct::Pose pose_of(const py::handle& given) {
  const auto rows = given.cast<std::array<std::array<double, 4>, 3>>();
  reconstruct::Pose pose;
  for (std::size_t i = 0; i < 3; ++i) {
    std::copy_n(rows[i].begin(), 3, pose.rotation[i]);
    pose.translation[i] = rows[i][3];
  }
  return pose;
}

namespace {

using namespace reconstruct;

/// Whether this thread calls a listener.
thread_local bool in_listener = false;

/// Does work without the interpreter on a thread of its own, while this one looks for signals: what a signal
/// raises, such as KeyboardInterrupt, stops the work and is raised once it has ended. What a listener calls
/// stays on its thread, by which `run` knows it; Python handles no signals there.
template <class Work>
auto interruptible(const Work& work) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  std::stop_source stop;
  std::exception_ptr raised;
  py::gil_scoped_release released;
  if (in_listener) return work(stop.get_token());
  auto result = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  while (result.wait_for(kBetweenLooks) != std::future_status::ready) {
    if (raised) continue;
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) continue;
    raised = std::make_exception_ptr(py::error_already_set());
    stop.request_stop();
  }
  if (!raised) return result.get();
  try {
    result.get();
  } catch (const Error&) {
  }
  std::rethrow_exception(raised);
}

/// The image of an array of uint8 or uint16 (height, width), or of uint8 (height, width, 3), whose rows are
/// contiguous.
ImageView image_of(const py::array& array) {
  ImageView image;
  image.data = array.data();
  image.height = static_cast<int>(array.shape(0));
  image.width = static_cast<int>(array.shape(1));
  image.pitch = array.strides(0);
  image.type = array.ndim() == 3       ? PixelType::kRgb8
               : array.itemsize() == 2 ? PixelType::kGrey16
                                       : PixelType::kGrey8;
  return image;
}

/// An array of the values of a map, without a copy.
template <class T>
py::array array_of(const Map<T>& map) {
  auto owner = std::make_unique<std::shared_ptr<T>>(map.data);
  const py::capsule base(owner.get(), [](void* held) { delete static_cast<std::shared_ptr<T>*>(held); });
  owner.release();
  return py::array(py::dtype::of<T>(), {map.height, map.width},
                   {map.pitch, static_cast<std::ptrdiff_t>(sizeof(T))}, map.data.get(), base);
}

py::tuple match_arrays(const Device& device, const py::array& left, const py::array& right,
                       const Options& options) {
  const ImageView views[] = {image_of(left), image_of(right)};
  const Disparities result = interruptible(
      [&](const std::stop_token& stop) { return match(device, views[0], views[1], options, stop); });
  if (result.filled.empty()) return py::make_tuple(array_of(result.disparity), py::none());
  return py::make_tuple(array_of(result.disparity), array_of(result.filled));
}

/// An array (count, height, width) of maps that lie one after the other, without a copy.
template <class T>
py::array batch_of(const Map<T>& first, std::size_t count) {
  auto owner = std::make_unique<std::shared_ptr<T>>(first.data);
  const py::capsule base(owner.get(), [](void* held) { delete static_cast<std::shared_ptr<T>*>(held); });
  owner.release();
  return py::array(py::dtype::of<T>(),
                   {static_cast<py::ssize_t>(count), py::ssize_t{first.height}, py::ssize_t{first.width}},
                   {first.height * first.pitch, first.pitch, static_cast<std::ptrdiff_t>(sizeof(T))},
                   first.data.get(), base);
}

py::tuple match_batch_arrays(const Device& device, const std::vector<py::array>& left,
                             const std::vector<py::array>& right, const Options& options) {
  std::vector<ImageView> views[2];
  for (const py::array& image : left) views[0].push_back(image_of(image));
  for (const py::array& image : right) views[1].push_back(image_of(image));
  const std::vector<Disparities> results = interruptible([&](const std::stop_token& stop) {
    return reconstruct::match_batch(device, views[0], views[1], options, stop);
  });
  const Disparities& first = results.front();
  const py::object filled =
      first.filled.empty() ? py::object(py::none()) : batch_of(first.filled, results.size());
  return py::make_tuple(batch_of(first.disparity, results.size()), filled);
}

/// An array (height, width, 3) of the vectors of a map, without a copy.
py::array array_of_vectors(const Map<Vector3f>& map) {
  auto owner = std::make_unique<std::shared_ptr<Vector3f>>(map.data);
  const py::capsule base(owner.get(),
                         [](void* held) { delete static_cast<std::shared_ptr<Vector3f>*>(held); });
  owner.release();
  constexpr std::ptrdiff_t kFloat = sizeof(float);
  return py::array(py::dtype::of<float>(), {map.height, map.width, 3}, {map.pitch, 3 * kFloat, kFloat},
                   map.data.get(), base);
}

py::tuple arrays_of(const DepthMaps& maps) {
  return py::make_tuple(array_of(maps.depth), array_of_vectors(maps.normal), array_of(maps.confidence));
}

MapView<float> map_of(const py::object& array) {
  if (array.is_none()) return {};
  const py::array it = array;
  return {static_cast<const float*>(it.data()), static_cast<int>(it.shape(1)), static_cast<int>(it.shape(0)),
          it.strides(0)};
}

ImageView image_or_none(const py::object& array) {
  return array.is_none() ? ImageView{} : image_of(array);
}

/// @param view  image, camera, pose, mask
View view_of(const py::tuple& view) {
  return {image_of(view[0]), camera_of(view[1]), pose_of(view[2]), image_or_none(view[3])};
}

py::tuple sweep_views(const Device& device, const py::tuple& reference, const std::vector<py::tuple>& sources,
                      const Options& options) {
  const View view = view_of(reference);
  std::vector<View> others;
  for (const py::tuple& source : sources) others.push_back(view_of(source));
  return arrays_of(
      interruptible([&](const std::stop_token& stop) { return sweep(device, view, others, options, stop); }));
}

/// The bytes of a vector as an array of a type, which owns them.
template <class T>
py::array array_of_vector(std::vector<T> values, const py::dtype& type) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const auto count = static_cast<py::ssize_t>(owner->size());
  const T* const data = owner->data();
  const py::capsule base(owner.get(), [](void* held) { delete static_cast<std::vector<T>*>(held); });
  owner.release();
  return py::array(type, {count}, {static_cast<py::ssize_t>(sizeof(T))}, data, base);
}

/// The fields of a cloud's points.
py::dtype point_type() {
  py::list names, formats, offsets;
  const auto add = [&](const char* name, const char* format, std::size_t offset) {
    names.append(name);
    formats.append(format);
    offsets.append(offset);
  };
  add("position", "(3,)f8", offsetof(CloudPoint, position));
  add("normal", "(3,)f4", offsetof(CloudPoint, normal));
  add("colour", "(3,)u1", offsetof(CloudPoint, colour));
  add("confidence", "f4", offsetof(CloudPoint, confidence));
  add("view_count", "u4", offsetof(CloudPoint, view_count));
  return {names, formats, offsets, sizeof(CloudPoint)};
}

/// @param array  (n, 3)
std::vector<std::array<double, 3>> points_of(const py::array_t<double, py::array::c_style>& array) {
  std::vector<std::array<double, 3>> points(static_cast<std::size_t>(array.shape(0)));
  if (!points.empty()) std::copy_n(array.data(), 3 * points.size(), points.front().data());
  return points;
}

/// @param views  depth, camera, pose, confidence, colour, mask, sources, points, prior and its confidence of
///               each
py::tuple fuse_views(const Device& device, const std::vector<py::tuple>& views, const Options& options) {
  std::vector<FusionView> given;
  for (const py::tuple& view : views)
    given.push_back({map_of(view[0]), camera_of(view[1]), pose_of(view[2]), map_of(view[3]),
                     image_or_none(view[4]), image_or_none(view[5]), view[6].cast<std::vector<int>>(),
                     points_of(view[7].cast<py::array_t<double, py::array::c_style>>()), map_of(view[8]),
                     map_of(view[9])});
  Fusion fusion =
      interruptible([&](const std::stop_token& stop) { return fuse(device, given, options, stop); });
  py::list checked;
  for (const DepthMaps& maps : fusion.checked) checked.append(arrays_of(maps));
  return py::make_tuple(checked, array_of_vector(std::move(fusion.cloud.points), point_type()),
                        array_of_vector(std::move(fusion.cloud.views), py::dtype::of<std::uint32_t>()),
                        fusion.warnings);
}

std::pair<bool, std::string> run_inputs(const std::vector<std::string>& inputs, const Options& options,
                                        const py::object& progress, const py::object& message) {
  Listener listener;
  if (!progress.is_none())
    listener.progress = [&](const Progress& it) {
      const py::gil_scoped_acquire acquired;
      in_listener = true;  // for good: the thread calls nothing else
      progress(it.step, it.done, it.total, it.seconds, it.left);
    };
  if (!message.is_none())
    listener.message = [&](MessageLevel level, const std::string& text) {
      const py::gil_scoped_acquire acquired;
      in_listener = true;
      message(static_cast<int>(level), text);
    };
  const RunResult result = interruptible([&](const std::stop_token& stop) {
    return run({inputs.begin(), inputs.end()}, options, listener, stop);
  });
  return {result.complete, result.json};
}

/// Raises what Python knows an error by.
void translate(std::exception_ptr thrown) {
  const auto raise = [](const char* name, const Error& error) {
    const py::object type = py::module_::import("reconstruct.errors").attr(name);
    const py::object raised = type(error.what());
    PyErr_SetObject(type.ptr(), raised.ptr());
  };
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const UsageError& error) {
    raise("UsageError", error);
  } catch (const InputError& error) {
    raise("InputError", error);
  } catch (const OutputError& error) {
    raise("OutputError", error);
  } catch (const OutOfMemory& error) {
    raise("OutOfMemory", error);
  } catch (const DeviceUnavailable& error) {
    raise("DeviceUnavailable", error);
  } catch (const DeviceError& error) {
    raise("DeviceError", error);
  } catch (const Interrupted& error) {
    raise("Interrupted", error);
  } catch (const Error& error) {
    raise("Error", error);
  }
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  py::register_exception_translator(translate);
  module.def("version", version);
  py::class_<Device>(module, "Device")
      .def(py::init([](std::string device, int threads, std::optional<std::size_t> memory_limit,
                       std::optional<std::size_t> gpu_memory_limit) {
        const py::gil_scoped_release released;
        return Device({std::move(device), threads, memory_limit, gpu_memory_limit});
      }))
      .def_property_readonly("name", &Device::name);
  add_device_memory(module);
  add_live(module);
  module.def("match", match_arrays);
  module.def("match_batch", match_batch_arrays);
  module.def("sweep", sweep_views);
  module.def("fuse", fuse_views);
  module.def("run", run_inputs);
}
