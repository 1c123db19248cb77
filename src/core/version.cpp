#include "core/version.hpp"

namespace recon {

const char* version() {
  return RECON_VERSION;
}

}  // namespace recon
