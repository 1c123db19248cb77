#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/evaluate/commands.hpp"

namespace recon {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(const Json& share, int digits = 1) {
  return fmt::format("{:.{}f}%", 100 * share.get<double>(), digits);
}

/// A figure, or a dash where there is none.
std::string number(const Json& value, int digits) {
  const double v = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  return std::isfinite(v) ? fmt::format("{:.{}f}", v, digits) : "-";
}

std::string percent_or_dash(const Json& value) {
  return std::isfinite(value.get<double>()) ? percent(value, 3) : "-";
}

std::string depth_row(const std::string& name, std::size_t name_width, const Json& score) {
  std::string row = fmt::format("{:<{}} {:>10} {:>9}", name, name_width, score["known"].get<long>(),
                                percent(score["completeness"]));
  for (const Json& within : score["within"]) row += fmt::format(" {:>8}", percent(within["of_known"]));
  row += fmt::format(" {:>9} {:>9} {:>9}\n", percent_or_dash(score["median_error"]),
                     percent_or_dash(score["mean_error"]), percent(score["estimated_where_unknown"]));
  return row;
}

std::string depth_text(const Json& figures) {
  const Json& all = figures["all"];
  std::size_t width = 9;
  for (const Json& view : figures["views"]) width = std::max(width, view["view"].get<std::string>().size());
  std::string out = fmt::format("{:<{}} {:>10} {:>9}", "view", width, "known", "complete");
  for (const Json& within : all["within"])
    out += fmt::format(" {:>8}", fmt::format("<={:g}%", 100 * within["threshold"].get<double>()));
  out += fmt::format(" {:>9} {:>9} {:>9}\n", "median", "mean", "unknown");
  int resized = 0, through_cameras = 0;
  for (const Json& view : figures["views"]) {
    out += depth_row(view["view"], width, view);
    resized += view["truth_sampling"] == "size" ? 1 : 0;
    through_cameras += view["truth_sampling"] == "cameras" ? 1 : 0;
  }
  out += depth_row("all", width, all) + fmt::format("{:<{}} {:>20}", "estimated", width, "");
  for (const Json& within : all["within"]) out += fmt::format(" {:>8}", percent(within["of_estimated"]));
  out +=
      "\n\nShares within an error are of all pixels with ground truth, in the last line of those with an "
      "estimate.\n"
      "unknown: share of the pixels without ground truth that have an estimate.\n";
  if (resized > 0)
    out += fmt::format(
        "{} maps differ in size from the ground truth: it was sampled at their pixel centres (nearest).\n",
        resized);
  if (through_cameras > 0)
    out += fmt::format(
        "{} maps have other cameras than the scene: the ground truth was sampled along their rays "
        "(nearest).\n",
        through_cameras);
  if (const int missing = figures["views_without_map"]; missing > 0)
    out += fmt::format("{} views have ground truth but no map; they count as empty maps.\n", missing);
  if (const int missing = figures["views_without_truth"]; missing > 0)
    out += fmt::format("{} views without ground truth are left out.\n", missing);
  return out;
}

std::string scores_text(const Json& scores) {
  std::string out = fmt::format("{:>10} {:>10} {:>10} {:>8} {:>8} {:>12} {:>12} {:>11} {:>11}\n", "threshold",
                                "precision", "recall", "F1", "voxel", "cloud", "reference", "mean", "median");
  for (const Json& score : scores)
    out += fmt::format("{:>10g} {:>10.4f} {:>10.4f} {:>8.4f} {:>8g} {:>12} {:>12} {:>11} {:>11}\n",
                       score["threshold"].get<double>(), score["precision"].get<double>(),
                       score["recall"].get<double>(), score["f1"].get<double>(), score["voxel"].get<double>(),
                       score["cloud_points"].get<long>(), score["reference_points"].get<long>(),
                       number(score["cloud_to_reference"]["mean"], 6),
                       number(score["cloud_to_reference"]["median"], 6));
  out +=
      "cloud, reference: points after thinning to one per voxel. mean, median: distance from the cloud to "
      "the reference;\n"
      "for the mean, points without a neighbour count with the threshold.\n";
  return out;
}

std::string cloud_text(const Json& figures) {
  std::string out = fmt::format("points: {}\n", figures["points"].get<long>());
  if (figures.contains("truth_views"))
    out += fmt::format(
        "left out, as no ground truth is known where they project: {}\n"
        "within 1% of the ground-truth depth: {} of {} points (views: {}), median error {}\n",
        figures["points_left_out"].get<long>(), percent(figures["within_1_percent"], 2),
        figures["within_1_percent_counted"].get<long>(), figures["within_1_percent_views"].get<std::string>(),
        percent_or_dash(figures["median_depth_error"]));
  else
    out += fmt::format("points of the reference: {}\n", figures["reference_points"].get<long>());
  return out + scores_text(figures["scores"]);
}

std::string disparity_text(const Json& figures) {
  std::string out = fmt::format("known pixels: {}\nwith an estimate: {}\n", figures["known"].get<long>(),
                                percent(figures["completeness"], 2));
  const bool any = figures["estimated"] > 0;
  for (const Json& bad : figures["bad"])
    out += fmt::format("bad-{:g}: {} (of the estimated pixels {})\n", bad["threshold"].get<double>(),
                       percent(bad["of_known"], 2), any ? percent(bad["of_estimated"], 2) : "-");
  out += fmt::format("average error: {} px\nroot mean square: {} px\n", number(figures["average_error"], 4),
                     number(figures["rms_error"], 4));
  return out;
}

}  // namespace

std::string text(const Json& figures) {
  if (figures["mode"] == "depth") return depth_text(figures);
  if (figures["mode"] == "cloud") return cloud_text(figures);
  return disparity_text(figures);
}

}  // namespace recon
