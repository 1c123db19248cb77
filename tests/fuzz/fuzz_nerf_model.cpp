#include "bytes_input.hpp"
#include "io/model/nerf_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return recon::feed(data, size, [](auto bytes, const auto& name) {
    for (const recon::View& view : recon::parse_nerf_model(bytes, name, "nowhere").views)
      if (view.name.starts_with('/') || view.name.starts_with("../")) __builtin_trap();
  });
}
