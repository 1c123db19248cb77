// The calls of <reconstruct/...> for Python. Names, defaults and documentation are in
// reconstruct/__init__.py.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <future>
#include <memory>
#include <reconstruct/scene.hpp>
#include <reconstruct/stereo.hpp>
#include <string>
#include <utility>

namespace py = pybind11;

namespace {

using namespace reconstruct;

/// Does work without the interpreter on a thread of its own, while this one looks for signals: what a signal
/// raises, such as KeyboardInterrupt, stops the work and is raised once it has ended.
template <class Work>
auto interruptible(const Work& work) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  std::stop_source stop;
  std::exception_ptr raised;
  py::gil_scoped_release released;
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

std::pair<bool, std::string> run_inputs(const std::vector<std::string>& inputs, const Options& options,
                                        const py::object& progress, const py::object& message) {
  Listener listener;
  if (!progress.is_none())
    listener.progress = [&](const Progress& it) {
      const py::gil_scoped_acquire acquired;
      progress(it.step, it.done, it.total, it.seconds, it.left);
    };
  if (!message.is_none())
    listener.message = [&](MessageLevel level, const std::string& text) {
      const py::gil_scoped_acquire acquired;
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
  module.def("match", match_arrays);
  module.def("run", run_inputs);
}
