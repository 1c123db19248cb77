#include "io/json_text.hpp"

#include <nlohmann/json.hpp>

namespace recon {

std::string json_text(const nlohmann::json& document) {
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace recon
