#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace recon {

/// A document as text; names that are no UTF-8 get replacement characters.
std::string json_text(const nlohmann::json& document);

}  // namespace recon
