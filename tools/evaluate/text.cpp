#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/plain_number.hpp"
#include "core/printable.hpp"
#include "tools/evaluate/commands.hpp"

namespace recon {
namespace {

using Json = nlohmann::ordered_json;
using Width = std::optional<std::size_t>;  ///< of the terminal, see text_table

std::string percent(const Json& share, int digits = 1) {
  return fmt::format("{:.{}f} %", 100 * share.get<double>(), digits);
}

/// A figure, or a dash where there is none.
std::string number(const Json& value, int digits) {
  const double v = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  return std::isfinite(v) ? fmt::format("{:.{}f}", v, digits) : "-";
}

std::string percent_or_dash(const Json& value) {
  return std::isfinite(value.get<double>()) ? percent(value, 3) : "-";
}

/// What a terminal of this width shows of a text below a table.
std::string note(const std::string& text, Width width) {
  return width ? wrapped_lines(text, *width) : text;
}

std::vector<std::string> depth_row(const std::string& name, const Json& score) {
  std::vector<std::string> row = {name, std::to_string(score["known"].get<long>()),
                                  percent(score["completeness"])};
  for (const Json& within : score["within"]) row.push_back(percent(within["of_known"]));
  row.insert(row.end(), {percent_or_dash(score["median_error"]), percent_or_dash(score["mean_error"]),
                         percent(score["estimated_where_unknown"])});
  return row;
}

std::string depth_table(const Json& figures, Width width) {
  const Json& all = figures["all"];
  std::vector<TableColumn> columns = {{"view", true}, {"known"}, {"complete"}};
  std::vector<std::string> estimated = {"estimated", "", ""};
  for (const Json& within : all["within"]) {
    columns.push_back({"<=" + plain(100 * within["threshold"].get<double>(), 6) + " %"});
    estimated.push_back(percent(within["of_estimated"]));
  }
  for (const char* head : {"median", "mean", "unknown"}) {
    columns.push_back({head});
    estimated.emplace_back();
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& view : figures["views"]) rows.push_back(depth_row(view["view"], view));
  rows.push_back(depth_row("all", all));
  rows.push_back(estimated);
  return text_table(columns, rows, width);
}

std::string depth_text(const Json& figures, Width width) {
  int resized = 0, through_cameras = 0;
  for (const Json& view : figures["views"]) {
    resized += view["truth_sampling"] == "size" ? 1 : 0;
    through_cameras += view["truth_sampling"] == "cameras" ? 1 : 0;
  }
  std::string notes =
      "Shares within an error are of all pixels with ground truth, in the last line of those with an "
      "estimate.\n"
      "unknown: share of the pixels without ground truth that have an estimate.\n";
  if (resized > 0)
    notes += fmt::format(
        "{} maps differ in size from the ground truth: it was sampled at their pixel centres (nearest).\n",
        resized);
  if (through_cameras > 0)
    notes += fmt::format(
        "{} maps have other cameras or sizes than the photos: the ground truth was sampled along their rays "
        "(nearest).\n",
        through_cameras);
  if (const int missing = figures["views_without_map"]; missing > 0)
    notes += fmt::format("{} views have ground truth but no map; they count as empty maps.\n", missing);
  if (const int missing = figures["views_without_truth"]; missing > 0)
    notes += fmt::format("{} views without ground truth are left out.\n", missing);
  return depth_table(figures, width) + "\n" + note(notes, width);
}

std::string scores_text(const Json& scores, Width width) {
  std::vector<TableColumn> columns;
  for (const char* head :
       {"threshold", "precision", "recall", "F1", "voxel", "cloud", "reference", "mean", "median"})
    columns.push_back({head});
  std::vector<std::vector<std::string>> rows;
  for (const Json& score : scores)
    rows.push_back({plain(score["threshold"].get<double>(), 6), number(score["precision"], 4),
                    number(score["recall"], 4), number(score["f1"], 4),
                    plain(score["voxel"].get<double>(), 6), std::to_string(score["cloud_points"].get<long>()),
                    std::to_string(score["reference_points"].get<long>()),
                    number(score["cloud_to_reference"]["mean"], 6),
                    number(score["cloud_to_reference"]["median"], 6)});
  return text_table(columns, rows, width) +
         note(
             "cloud, reference: points after thinning to one per voxel. mean, median: distance from the "
             "cloud to the reference; for the mean, points without a neighbour count with the threshold.\n",
             width);
}

/// What people should look at where nothing fits; empty where something does.
std::string doubt_of_cloud(const Json& figures) {
  const bool truth = figures.contains("truth_views");
  if (truth && figures["points_on_truth"] == 0)
    return "nothing of the cloud lies where the scene has ground truth: is it of this scene?\n";
  if (figures["scores"].back()["f1"].get<double>() > 0) return {};
  return fmt::format("nothing of the cloud lies near the {}: is it of this scene, and in its units?\n",
                     truth ? "ground truth" : "reference");
}

std::string cloud_text(const Json& figures, Width width) {
  const auto count = [&](const char* key) { return figures[key].get<long>(); };
  std::string out = fmt::format("points: {}\n", count("points"));
  if (figures.contains("truth_views")) {
    if (count("points_left_out") > 0)
      out += fmt::format("left out, as no ground truth is known where they project: {}\n",
                         count("points_left_out"));
    out += fmt::format(
        "within 1 % of the ground-truth depth: {} of {} points, median error {}\n"
        "  (a point's depth is compared in {})\n",
        percent(figures["within_1_percent"], 2), count("within_1_percent_counted"),
        percent_or_dash(figures["median_depth_error"]),
        figures["within_1_percent_views"] == "all" ? "all views" : "the views that it was fused from");
  } else {
    out += fmt::format("points of the reference: {}\n", count("reference_points"));
    if (figures.contains("points_cropped"))
      out += fmt::format("left out, as they are outside the volume: {}, of the reference {}\n",
                         count("points_cropped"), count("reference_points_cropped"));
  }
  if (count("points") > 0) out += doubt_of_cloud(figures);
  out += "distances to the surface, in units of the scene (--thresholds sets the first column):\n";
  return note(out, width) + scores_text(figures["scores"], width);
}

std::string disparity_text(const Json& figures) {
  std::string out = fmt::format("known pixels: {}\nwith an estimate: {}\n", figures["known"].get<long>(),
                                percent(figures["completeness"], 2));
  const bool any = figures["estimated"] > 0;
  for (const Json& bad : figures["bad"])
    out += fmt::format("bad-{}: {} (of the estimated pixels {})\n", plain(bad["threshold"].get<double>(), 6),
                       percent(bad["of_known"], 2), any ? percent(bad["of_estimated"], 2) : "-");
  constexpr double kNearlyAll = 0.95;
  if (any && figures["bad"].back()["of_estimated"] > kNearlyAll)
    out += "nearly all differ: is each map in pixels? see --scale and --map-scale\n";
  out += fmt::format("average error: {} px\nroot mean square: {} px\n", number(figures["average_error"], 4),
                     number(figures["rms_error"], 4));
  return out;
}

}  // namespace

std::string text(const Json& figures, std::optional<std::size_t> width) {
  if (figures["mode"] == "depth") return depth_text(figures, width);
  if (figures["mode"] == "cloud") return cloud_text(figures, width);
  return disparity_text(figures);
}

}  // namespace recon
