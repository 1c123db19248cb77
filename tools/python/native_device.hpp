#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <reconstruct/device_image.hpp>
#include <reconstruct/view.hpp>
#include <vector>

// What the parts of the module that take device memory share.

namespace py = pybind11;

// Of native_device.cpp.

/// Adds tensors of DLPack and memory of the library.
void add_device_memory(py::module_& module);

/// @param image  address, height, width, channels, pitch, stream or None
reconstruct::DeviceImage device_image(const py::tuple& image);
/// @param map  as of an image
reconstruct::DeviceMapView device_map(const py::tuple& map);
reconstruct::DeviceVectorMapView device_vector_map(const py::tuple& map);

// Of native.cpp.

/// @param numbers  fx, fy, cx, cy
reconstruct::Camera camera_of(const py::handle& numbers);
/// @param rows  of [R | t]
reconstruct::Pose pose_of(const py::handle& rows);

inline void* pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// Does `work`, which may wait for a GPU, without the lock of the interpreter, so that other threads run.
/// Libraries call deleters with and without it, and after its end.
template <class Work>
void without_gil(const Work& work) {
  if (Py_IsInitialized() == 0 || PyGILState_Check() == 0) return work();
  const py::gil_scoped_release released;
  work();
}

/// For what frees device memory.
struct DeleteWithoutGil {
  template <class T>
  void operator()(T* it) const {
    without_gil([&] { delete it; });
  }
};

/// Floats in the memory of a GPU, one after the other.
struct DeviceValues {
  std::shared_ptr<float> data;
  std::vector<std::int64_t> shape;
};
