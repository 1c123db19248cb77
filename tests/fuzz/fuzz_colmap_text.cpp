#include "model_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  recon::check_model(recon::model_input(data, size), recon::ColmapFormat::kText);
  return 0;
}
