#pragma once

#include "session/diagnose/photo_check.hpp"

namespace recon {

/// Warns when the views agree by chance only, or single views do where the others agree. A doubt of a photo
/// is dropped where other views confirm half as much of its depths as of all.
void check_agreement(const PreparedPhotos& photos, Findings& findings);

}  // namespace recon
