#include "bytes_input.hpp"
#include "io/workspace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  recon::feed(data, size, [](auto bytes, const auto& name) { recon::parse_patch_match_config(bytes, name); });
  return recon::feed(data, size,
                     [](auto bytes, const auto& name) { recon::parse_fusion_config(bytes, name); });
}
