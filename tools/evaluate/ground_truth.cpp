#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "io/file/input_file.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "tools/evaluate/commands.hpp"

namespace recon {

namespace fs = std::filesystem;

std::optional<fs::path> find_truth(const fs::path& folder, const std::string& view_name) {
  const fs::path full = folder / view_name;
  for (const fs::path& stem : {fs::path(full).replace_extension(), full})
    for (const char* ending : {".bin", ".png"}) {
      const fs::path candidate = stem.string() + ending;
      if (is_there_to_read(candidate)) return candidate;
    }
  return std::nullopt;
}

std::string missing_truth(const fs::path& folder, const std::vector<std::string>& view_names) {
  const auto has_truth = [&](const fs::path& place) {
    return std::ranges::any_of(view_names,
                               [&](const std::string& name) { return find_truth(place, name).has_value(); });
  };
  std::set<fs::path> better;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_folder(it->path()) && has_truth(it->path())) better.insert(it->path());
  return folder.string() + ": holds no NAME.png or NAME.bin of the views" +
         (better.empty() ? ", with the ground truth of the view NAME"
                         : "; " + better.begin()->string() + " does");
}

double truth_unit(const fs::path& folder, std::optional<double> by_user) {
  if (by_user) {
    check_positive("--unit", *by_user);
    return *by_user;
  }
  const fs::path description = folder / ".." / "scene.json";
  if (!is_there_to_read(description)) return 0.001;
  const auto json = nlohmann::json::parse(read_file(description), nullptr, false);
  constexpr const char* kKey = "depth_png_levels_per_scene_unit";
  if (!json.is_object() || !json.contains(kKey)) return 0.001;
  if (!json[kKey].is_number() || !(json[kKey].get<double>() > 0))
    throw InputError(fmt::format("{}: \"{}\" is {}; it has to be a number above 0: use --unit",
                                 description.string(), kKey, json[kKey].dump()));
  return 1 / json[kKey].get<double>();
}

Image<float> read_truth(const fs::path& path, double unit) {
  if (path.extension() == ".bin") return read_depth_map(path);
  return mapped<float>(read_png16(path), [unit](std::uint16_t steps) {
    return steps == 0 ? kUnknown : static_cast<float>(steps * unit);
  });
}

void check_positive(const char* option, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw UsageError(fmt::format("{} is {:f}; it has to be a number above 0", option, value));
}

void check_thresholds(const std::vector<double>& thresholds) {
  if (thresholds.empty()) throw UsageError("--thresholds needs at least one number, such as 0.01");
  for (const double threshold : thresholds) check_positive("--thresholds", threshold);
}

}  // namespace recon
