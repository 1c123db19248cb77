#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace recon {

/// From now on standard error has one JSON object a line instead of text: {"warning": "..."}, {"error":
/// "..."}, {"message": "..."}, and of Progress {"step": "depth maps", "done": 7, "total": 18, "seconds": 3.5,
/// "left": 5}. "left" is predicted, and absent where nothing is known. Their message_subject is in "input".
/// Call it first in `main`.
void set_json_messages() noexcept;

/// Whether that was called. Safe in a signal handler.
bool json_messages() noexcept;

/// A message as one line without its end. Bytes that are no UTF-8 are replaced.
std::string message_object(nlohmann::ordered_json object);

}  // namespace recon
