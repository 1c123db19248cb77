// Memory of GPUs for Python: tensors of DLPack, and what other libraries say of their arrays.

#include "native_device.hpp"

#include <string>
#include <utility>

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

/// A tensor for another library, which shares the values.
py::capsule tensor_of(const DeviceValues& values, int device) {
  struct Shared {
    DlManaged managed;
    DeviceValues values;
  };
  auto shared = std::make_unique<Shared>();
  shared->values = values;
  std::vector<std::int64_t>& shape = shared->values.shape;
  const auto dimensions = static_cast<std::int32_t>(shape.size());
  shared->managed.tensor = {values.data.get(), kDlCuda,      device,  dimensions,
                            {2, 32, 1},        shape.data(), nullptr, 0};
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

}  // namespace

DeviceImage device_image(const py::tuple& image) {
  DeviceImage result;
  result.data = pointer(image[0].cast<std::uintptr_t>());
  result.height = image[1].cast<int>();
  result.width = image[2].cast<int>();
  result.type = image[3].cast<int>() == 3 ? PixelType::kRgb8 : PixelType::kGrey8;
  result.pitch = image[4].cast<std::ptrdiff_t>();
  if (const auto stream = image[5].cast<std::optional<std::uintptr_t>>()) result.stream = pointer(*stream);
  return result;
}

namespace {

template <class T>
DeviceMapViewOf<T> map_of(const py::tuple& map) {
  const DeviceImage image = device_image(map);
  return {static_cast<T*>(const_cast<void*>(image.data)), image.width, image.height, image.pitch,
          image.stream};
}

}  // namespace

DeviceMapView device_map(const py::tuple& map) {
  return map_of<float>(map);
}

DeviceVectorMapView device_vector_map(const py::tuple& map) {
  return map_of<Vector3f>(map);
}

void add_device_memory(py::module_& module) {
  py::class_<Tensor>(module, "Tensor")
      .def(py::init<const py::capsule&>())
      .def_property_readonly("address", &Tensor::address)
      .def_property_readonly("shape", &Tensor::shape)
      .def_property_readonly("strides", &Tensor::strides)
      .def_property_readonly("type", &Tensor::type);
  py::class_<DeviceValues, std::unique_ptr<DeviceValues, DeleteWithoutGil>>(module, "DeviceValues")
      .def_property_readonly(
          "address", [](const DeviceValues& it) { return reinterpret_cast<std::uintptr_t>(it.data.get()); })
      .def_property_readonly("shape", [](const DeviceValues& it) { return py::tuple(py::cast(it.shape)); })
      .def("tensor", tensor_of);
}
