#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "session/report/cloud_view.hpp"

namespace recon {

/// The report of a scene as a web page that opens without a network; pictures are files beside it.
/// @param report  of `report_json`
/// @param cloud   may be empty
std::string report_html(const nlohmann::json& report, const CloudView& cloud);

}  // namespace recon
