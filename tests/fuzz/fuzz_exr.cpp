#include "bytes_input.hpp"
#include "io/map/exr.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return recon::feed(data, size, [](auto bytes, const auto& name) { recon::parse_exr(bytes, name); });
}
