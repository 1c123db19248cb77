// <reconstruct/matcher.hpp> for Python, and tensors of DLPack. Names, defaults and documentation are in
// reconstruct/__init__.py and reconstruct/_gpu.py.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <reconstruct/matcher.hpp>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace {

using namespace reconstruct;

// The structures of DLPack, version 0, as all libraries have them: https://dmlc.github.io/dlpack.
struct DlType {
  std::uint8_t code, bits;  ///< code 1: unsigned, 2: float
  std::uint16_t count;      ///< values that are one
};
struct DlTensor {
  void* data;
  std::int32_t device_type, device;
  std::int32_t dimensions;
  DlType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< elements; null: rows without padding
  std::uint64_t offset;   ///< bytes
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};
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

constexpr std::int32_t kDlCuda = 2;
constexpr const char *kDlName = "dltensor", *kDlUsed = "used_dltensor";

/// A tensor of another library, whose deleter is called when it is not needed any more.
class Tensor {
 public:
  explicit Tensor(const py::capsule& capsule) {
    if (!PyCapsule_IsValid(capsule.ptr(), kDlName))
      throw py::type_error("no tensor of DLPack, or a used one");
    managed_ = {static_cast<DlManaged*>(PyCapsule_GetPointer(capsule.ptr(), kDlName)), [](DlManaged* it) {
                  if (it->deleter != nullptr) it->deleter(it);
                }};
    PyCapsule_SetName(capsule.ptr(), kDlUsed);
  }

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(it().data) + it().offset; }
  std::vector<std::int64_t> shape() const { return {it().shape, it().shape + it().dimensions}; }
  std::optional<std::vector<std::int64_t>> strides() const {
    if (it().strides == nullptr) return std::nullopt;
    return std::vector(it().strides, it().strides + it().dimensions);
  }
  py::tuple type() const { return py::make_tuple(it().type.code, it().type.bits, it().type.count); }

 private:
  const DlTensor& it() const { return managed_->tensor; }

  std::shared_ptr<DlManaged> managed_;
};

/// A tensor for another library, which shares the map.
py::capsule tensor_of(const DeviceMap& map, int device) {
  struct Shared {
    DlManaged managed;
    DeviceMap map;
    std::int64_t shape[2];
  };
  auto shared = std::make_unique<Shared>();
  shared->map = map;
  shared->shape[0] = map.height;
  shared->shape[1] = map.width;
  shared->managed.tensor = {map.data.get(), kDlCuda, device, 2, {2, 32, 1}, shared->shape, nullptr, 0};
  shared->managed.context = shared.get();
  shared->managed.deleter = [](DlManaged* it) { DeleteWithoutGil()(static_cast<Shared*>(it->context)); };
  const py::capsule capsule(&shared->managed, kDlName, [](PyObject* unused) {
    if (!PyCapsule_IsValid(unused, kDlName)) return;  // its user calls the deleter
    auto* const it = static_cast<DlManaged*>(PyCapsule_GetPointer(unused, kDlName));
    it->deleter(it);
  });
  shared.release();
  return capsule;
}

void* pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// @param image  address, height, width, channels, pitch, stream or None
DeviceImage image_of(const py::tuple& image) {
  DeviceImage result;
  result.data = pointer(image[0].cast<std::uintptr_t>());
  result.height = image[1].cast<int>();
  result.width = image[2].cast<int>();
  result.type = image[3].cast<int>() == 3 ? PixelType::kRgb8 : PixelType::kGrey8;
  result.pitch = image[4].cast<std::ptrdiff_t>();
  if (const auto stream = image[5].cast<std::optional<std::uintptr_t>>()) result.stream = pointer(*stream);
  return result;
}

/// @param map  as of an image
DeviceMapView map_of(const py::tuple& map) {
  const DeviceImage image = image_of(map);
  return {static_cast<float*>(const_cast<void*>(image.data)), image.width, image.height, image.pitch,
          image.stream};
}

void match_images(const Matcher& matcher, const py::tuple& left, const py::tuple& right, const py::tuple& map,
                  std::uintptr_t stream) {
  const DeviceImage images[] = {image_of(left), image_of(right)};
  const DeviceMapView result = map_of(map);
  const py::gil_scoped_release released;
  matcher.match(images[0], images[1], result, pointer(stream));
}

}  // namespace

/// Declared in native.cpp, which has the module.
void add_matcher(py::module_& module) {
  py::class_<Tensor>(module, "Tensor")
      .def(py::init<const py::capsule&>())
      .def_property_readonly("address", &Tensor::address)
      .def_property_readonly("shape", &Tensor::shape)
      .def_property_readonly("strides", &Tensor::strides)
      .def_property_readonly("type", &Tensor::type);
  using WithoutGil = py::call_guard<py::gil_scoped_release>;
  py::class_<DeviceMap, std::unique_ptr<DeviceMap, DeleteWithoutGil>>(module, "DeviceMap")
      .def_property_readonly(
          "address", [](const DeviceMap& map) { return reinterpret_cast<std::uintptr_t>(map.data.get()); })
      .def_readonly("pitch", &DeviceMap::pitch)
      .def("tensor", tensor_of);
  py::class_<Matcher, std::unique_ptr<Matcher, DeleteWithoutGil>>(module, "Matcher")
      .def(py::init([](const Device& device, int width, int height, int channels, const Options& options) {
        const PixelType type = channels == 3 ? PixelType::kRgb8 : PixelType::kGrey8;
        const py::gil_scoped_release released;
        return Matcher(device, width, height, type, options);
      }))
      .def("match", match_images)
      .def(
          "order_after_match",
          [](const Matcher& it, std::uintptr_t stream) { it.order_after_match(pointer(stream)); },
          WithoutGil())
      .def("new_map", &Matcher::new_map, WithoutGil())
      .def_property_readonly("device", &Matcher::device)
      .def_property_readonly("nbytes", &Matcher::bytes);
}
