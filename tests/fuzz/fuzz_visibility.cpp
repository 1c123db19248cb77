#include "bytes_input.hpp"
#include "io/cloud/ply.hpp"

/// The first byte says how many points the cloud is taken to have.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  return recon::feed(data + 1, size - 1,
                     [&](auto bytes, const auto& name) { recon::parse_visibility(bytes, name, data[0], 3); });
}
