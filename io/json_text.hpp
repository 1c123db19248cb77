#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace recon {

/// Serialises a document; invalid UTF-8 is replaced by replacement characters.
std::string json_text(const nlohmann::json& document);

}  // namespace recon
