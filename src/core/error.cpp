#include "core/error.hpp"

namespace recon::detail {

void expectation_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": expected " + condition);
}

}  // namespace recon::detail
