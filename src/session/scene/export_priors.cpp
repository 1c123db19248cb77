// --export-priors: the maps of checked views as the trainers of splats read them. tools/docs/formats.md names
// the files of the trainers by which this was written.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "core/pixels.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/map/npy.hpp"
#include "refine/push_pull.hpp"
#include "session/products/host_memory.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/exports.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Step16 = std::uint16_t;

/// The largest number of 16 bits.
constexpr double kMaxStep = 65535;
/// What gaussian-splatting divides them by.
constexpr double kSplatStep = 65536;
/// The unit of depth files that nerfstudio takes by default.
constexpr double kDefaultUnit = 0.001;

std::string in_export(const std::string& file) {
  return Workspace::export_folder() + "/" + file;
}

/// The name of a view without its ending, as trainers look for its maps.
std::string stem(const std::string& view) {
  return fs::path(view).replace_extension().string();
}

std::string depth_png(const std::string& view) {
  return in_export("depths/" + stem(view) + ".png");
}
std::string normal_png(const std::string& view) {
  return in_export("normals/" + stem(view) + ".png");
}
std::string array_file(const std::string& view, const char* kind) {
  return in_export("priors/" + view + "." + kind + ".npy");
}

/// What says how the maps are meant; empty where nothing does.
std::string description_file(PriorFormat format) {
  if (format == PriorFormat::k3dgs) return in_export("sparse/0/depth_params.json");
  return format == PriorFormat::kNerfstudio ? in_export("transforms.json") : "";
}

/// The views that have files. A trainer may stop at a view of the model that has none, or take the file of
/// another view for it.
std::vector<int> views_of(const ScenePlan& plan, PriorFormat format) {
  if (format == PriorFormat::kNone) return {};
  return format == PriorFormat::kNpy ? plan.views_in_scope() : plan.needed_views();
}

/// The nearest and the farthest depth of a map.
struct DepthEnds {
  double near = std::numeric_limits<double>::infinity(), far = 0;
};

DepthEnds depth_ends(ImageView<const float> depth) {
  DepthEnds ends;
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x)
      if (const auto z = static_cast<double>(depth(x, y)); z > 0)
        ends = {std::min(ends.near, z), std::max(ends.far, z)};
  return ends;
}

/// A map in steps of 16 bits: `value(depth)`, and 0 where the depth is unknown.
template <class Value>
Image<Step16> in_steps(ImageView<const float> depth, const Value& value) {
  return mapped<Step16>(depth, [&](float depth_of_pixel) {
    const auto z = static_cast<double>(depth_of_pixel);
    return z > 0 ? static_cast<Step16>(std::clamp(std::round(value(z)), 1.0, kMaxStep)) : Step16{0};
  });
}

/// Depths without holes: between the known ones inverse depths are smooth, as those of a plane are.
Image<float> without_holes(ImageView<const float> depth) {
  Image<float> map(depth.width, depth.height);
  const auto for_each = [&](const auto& value) {
    for (int y = 0; y < map.height(); ++y)
      for (int x = 0; x < map.width(); ++x) map(x, y) = value(depth(x, y), map(x, y));
  };
  for_each([](float z, float) { return z > 0 ? 1 / z : kUnknown; });
  push_pull(map.view());
  for_each([](float z, float inverse) { return z > 0 ? z : 1 / inverse; });
  return map;
}

/// Normals as colours, from -1 in black to 1 in white; unknown in grey, which is about the zero vector.
Image<Vec3<Step16>> in_colours(ImageView<const Vec3f> normals) {
  const auto step = [](float part) {
    const double value = std::isfinite(part) ? static_cast<double>(part) : 0;
    return static_cast<Step16>(std::clamp(std::round((value + 1) / 2 * kMaxStep), 0.0, kMaxStep));
  };
  return mapped<Vec3<Step16>>(normals, [&](const Vec3f& n) {
    return Vec3<Step16>{step(n.x), step(n.y), step(n.z)};
  });
}

/// camera_to_world with the axes of OpenGL: y up, and z backwards.
json transform_matrix(const Pose& cam_from_world, Vec3d offset) {
  const Mat3d& r = cam_from_world.rotation;
  const Vec3d centre = camera_centre(cam_from_world) - offset;
  return {{r(0, 0), -r(1, 0), -r(2, 0), centre.x},
          {r(0, 1), -r(1, 1), -r(2, 1), centre.y},
          {r(0, 2), -r(1, 2), -r(2, 2), centre.z},
          {0, 0, 0, 1}};
}

/// The export of a run.
class PriorWriter {
 public:
  PriorWriter(const SceneProducts& products, const CloudSettings& cloud, std::size_t memory)
      : products_(products),
        plan_(products.plan),
        format_(cloud.export_priors),
        filled_(cloud.export_filled),
        offset_(cloud_offset(products.plan, cloud)),
        views_(views_of(products.plan, format_)),
        at_once_(views_at_once(memory)),
        ends_(views_.size()),
        files_(views_.size()) {
    if (format_ == PriorFormat::kNpy) std::erase_if(views_, [&](int view) { return !is_checked(view); });
  }

  std::vector<OutputFile> write() {
    if (format_ != PriorFormat::kNpy) find_ends();
    for_each_view([&](std::size_t i) { write_view(i); });
    std::vector<OutputFile> files;
    for (std::vector<OutputFile>& of_view : files_) std::ranges::move(of_view, std::back_inserter(files));
    if (const std::string file = description_file(format_); !file.empty()) {
      const json description = format_ == PriorFormat::k3dgs ? depth_params() : transforms();
      files.push_back({file, write_file(path(file), json_text(description))});
    }
    return files;
  }

  double unit() const { return unit_; }

 private:
  /// Bytes a pixel of the maps of a view, the content of a file, and a picture and its encoder.
  /// Those of filling are as many as those of its levels.
  static constexpr std::size_t kPixelBytes = ViewDepth::kPixelBytes + 2 * kNormalFileBytes + 12;
  static constexpr std::size_t kFillBytes = 16;

  int views_at_once(std::size_t memory) const {
    std::size_t largest = 1;
    for (const int view : views_) largest = std::max(largest, pixels_of(plan_.view(view).camera));
    const std::size_t left = memory > kProgramBytes ? memory - kProgramBytes : 0;
    return static_cast<int>(std::clamp(left / (largest * (kPixelBytes + (filled_ ? kFillBytes : 0))),
                                       std::size_t{1}, std::size_t{kMaxThreads}));
  }

  template <class Body>
  void for_each_view(const Body& body) const {
    bounded_parallel_for(static_cast<int>(views_.size()), at_once_, [&](int i) {
      check_interrupted();
      body(static_cast<std::size_t>(i));
    });
  }

  fs::path path(const std::string& file) const { return products_.workspace.path(file); }
  bool is_checked(int view) const { return products_.result(Step::kCheck, view) != nullptr; }
  const std::string& name(std::size_t i) const { return plan_.view(views_[i]).output_name; }

  /// A map of a view; `unknown` everywhere where it has none.
  template <class T>
  Image<T> read(std::size_t i, std::string (*file)(const std::string&, MapKind),
                Image<T> (*reader)(const fs::path&), T unknown) const {
    if (is_checked(views_[i])) return reader(path(file(name(i), MapKind::kGeometric)));
    const Pinhole& camera = plan_.view(views_[i]).camera;
    return {camera.width, camera.height, unknown};
  }
  Image<float> depth(std::size_t i) const { return read(i, Workspace::depth_file, read_depth_map, kUnknown); }
  Image<Vec3f> normals(std::size_t i) const {
    return read(i, Workspace::normal_file, read_normal_map, Vec3f{kUnknown, kUnknown, kUnknown});
  }
  Image<float> confidence(std::size_t i) const {
    return read(i, Workspace::confidence_file, read_confidence_map, kUnknown);
  }

  void find_ends() {
    for_each_view([&](std::size_t i) { ends_[i] = depth_ends(depth(i).view()); });
    double far = 0;
    for (const DepthEnds& ends : ends_) {
      near_ = std::min(near_, ends.near);
      far = std::max(far, ends.far);
    }
    // The finest power of ten that holds all depths, where the default does not or has too few steps.
    if (far > kMaxStep * kDefaultUnit || (far > 0 && far < kMaxStep * kDefaultUnit / 100))
      unit_ = std::pow(10, std::ceil(std::log10(far / kMaxStep)));
  }

  /// The inverse depth of the last step of a view, a little more than that of its nearest depth. The trainer
  /// ignores views whose scale is not within a fifth and five times the median of all: none is less than a
  /// quarter of the largest.
  double splat_scale(std::size_t i) const {
    if (ends_[i].far == 0) return 0;
    return std::max(1 / ends_[i].near, 1 / (4 * near_)) * kSplatStep / kMaxStep;
  }

  void write_view(std::size_t i) {
    const auto add = [&](const std::string& file, const auto& writer, const auto& image) {
      files_[i].push_back({file, writer(path(file), image.view())});
    };
    const auto png = [](const fs::path& file, const auto& image) { return write_png16(file, image); };
    const auto npy = [](const fs::path& file, const auto& image) { return write_npy(file, image); };
    const std::string& view = name(i);
    Image<float> map = depth(i);
    if (filled_) map = without_holes(map.view());
    if (format_ == PriorFormat::k3dgs) {
      const double scale = splat_scale(i);
      add(depth_png(view), png, in_steps(map.view(), [&](double z) { return kSplatStep / (z * scale); }));
    } else if (format_ == PriorFormat::kNerfstudio) {
      add(depth_png(view), png, in_steps(map.view(), [&](double z) { return z / unit_; }));
    } else if (format_ == PriorFormat::kLichtfeld) {
      const double far = ends_[i].far;
      add(depth_png(view), png, in_steps(map.view(), [&](double z) { return kMaxStep * z / far; }));
      add(normal_png(view), png, in_colours(normals(i).view()));
    } else {
      add(array_file(view, "depth"), npy, map);
      add(array_file(view, "normal"), npy, normals(i));
      add(array_file(view, "confidence"), npy, confidence(i));
    }
  }

  json depth_params() const {
    json params = json::object();
    for (std::size_t i = 0; i < views_.size(); ++i)
      params[stem(name(i))] = {{"scale", splat_scale(i)}, {"offset", 0.0}};
    return params;
  }

  json transforms() const {
    json frames = json::array();
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const Pinhole& camera = plan_.view(views_[i]).camera;
      const std::string folder = in_export("");
      frames.push_back(
          {{"file_path", Workspace::image_file(name(i))},
           {"depth_file_path", depth_png(name(i)).substr(folder.size())},
           {"w", camera.width},
           {"h", camera.height},
           {"fl_x", camera.fx},
           {"fl_y", camera.fy},
           {"cx", camera.cx},
           {"cy", camera.cy},
           {"transform_matrix", transform_matrix(plan_.scene_view(views_[i]).cam_from_world, offset_)}});
    }
    return {{"camera_model", "PINHOLE"}, {"depth_unit_scale_factor", unit_}, {"frames", std::move(frames)}};
  }

  const SceneProducts& products_;
  const ScenePlan& plan_;
  const PriorFormat format_;
  const bool filled_;
  const Vec3d offset_;
  std::vector<int> views_;
  const int at_once_;
  std::vector<DepthEnds> ends_;
  std::vector<std::vector<OutputFile>> files_;
  double near_ = std::numeric_limits<double>::infinity(), unit_ = kDefaultUnit;
};

}  // namespace

std::vector<std::string> prior_files(const ScenePlan& plan, PriorFormat format) {
  std::vector<std::string> files;
  for (const int view : views_of(plan, format))
    for (PriorMap& map : prior_maps(plan.view(view).output_name, format))
      files.push_back(std::move(map.file));
  if (const std::string file = description_file(format); !file.empty()) files.push_back(file);
  return files;
}

std::vector<PriorMap> prior_maps(const std::string& view, PriorFormat format) {
  if (format == PriorFormat::kNone) return {};
  if (format == PriorFormat::kNpy)
    return {{array_file(view, "depth"), sizeof(float)},
            {array_file(view, "normal"), sizeof(Vec3f)},
            {array_file(view, "confidence"), sizeof(float)}};
  std::vector<PriorMap> maps = {{depth_png(view), sizeof(Step16)}};
  if (format == PriorFormat::kLichtfeld) maps.push_back({normal_png(view), sizeof(Vec3<Step16>)});
  return maps;
}

void check_prior_names(const ScenePlan& plan, PriorFormat format) {
  if (format == PriorFormat::kNone || format == PriorFormat::kNpy) return;
  std::map<std::string, std::string> by_stem;
  for (const int view : plan.all_views()) {
    const std::string& name = plan.view(view).output_name;
    const auto [other, added] = by_stem.emplace(stem(name), name);
    if (!added)
      throw UsageError(
          fmt::format("--export-priors: the maps of {} and {} would have the same name, {}.png; rename one "
                      "of the photos, "
                      "or give --export-priors npy",
                      other->second, name, stem(name)));
  }
}

std::vector<OutputFile> export_priors(const SceneProducts& products, const CloudSettings& cloud,
                                      std::size_t memory) {
  if (cloud.export_priors == PriorFormat::kNone) return {};
  PriorWriter writer(products, cloud, memory);
  std::vector<OutputFile> files = writer.write();
  const std::string folder = products.workspace.path(Workspace::export_folder()).string();
  messages().info("export: {} files of priors are in {}", files.size(), folder);
  if (cloud.export_priors == PriorFormat::kNerfstudio && writer.unit() != kDefaultUnit)
    messages().info("export: depths are in units of {}: give nerfstudio --depth-unit-scale-factor {}",
                    writer.unit(), writer.unit());
  return files;
}

}  // namespace recon
