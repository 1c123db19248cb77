#include "session/diagnose/asked_views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace recon {

void warn_of_min_views(const ScenePlan& plan, const SceneSettings& settings, Findings& findings) {
  int most = 0;
  for (const int view : plan.views_in_scope())
    most = std::max(most, static_cast<int>(plan.view(view).sources.size()));
  if (settings.check.consistency.min_views > most)
    findings.warn(
        fmt::format("depths need the agreement of {} instead of {} views, as no view has more sources; lower "
                    "--min-views, or raise --sources",
                    most, settings.check.consistency.min_views));
}

void warn_of_min_fused_views(std::size_t views, const SceneSettings& settings, Findings& findings) {
  if (views > 0 && static_cast<int>(views) < settings.cloud.min_views)
    findings.warn(
        fmt::format("points need {} instead of {} views, as there are no more; lower --min-fused-views, or "
                    "add photos that overlap",
                    views, settings.cloud.min_views));
}

}  // namespace recon
