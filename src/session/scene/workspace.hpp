#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace recon {

/// Depth maps before and after the check across views.
enum class MapKind { kPhotometric, kGeometric };

/// The steps of a view that leave a record.
enum class Step { kPrepare, kEstimate, kCheck };

/// The output folder, laid out as COLMAP's dense workspace. The names it hands out are relative to `root()`;
/// those of views were checked when the model was read, and stay inside.
class Workspace {
 public:
  explicit Workspace(std::filesystem::path root) : root_(std::move(root)) {}

  /// Longest name of a photo without its folder, in bytes: file systems have names of 255, and the longest
  /// one made from it is that of its depth map.
  static constexpr std::size_t kMaxNameBytes = 255 - std::string_view(".png.photometric.bin").size();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path path(const std::string& file) const { return root_ / file; }

  static std::string image_file(const std::string& view) { return "images/" + view; }
  static std::string depth_file(const std::string& view, MapKind kind);
  static std::string normal_file(const std::string& view, MapKind kind);
  static std::string confidence_file(const std::string& view, MapKind kind);
  static std::string preview_file(const std::string& view) { return "previews/" + view + ".png"; }
  static std::string record_file(Step step, const std::string& view);
  static std::string fusion_record_file() { return "status/fusion.json"; }
  static std::string cloud_file() { return "fused.ply"; }
  static std::string visibility_file() { return "fused.ply.vis"; }

  /// Tries to write a file in the folder.
  /// @throws OutputError with the reason
  void check_writable() const;

  /// Removes temporary files that a killed run left behind.
  /// @param exclusive  no other process writes into the folder; else files younger than an hour stay
  void remove_leftovers(bool exclusive) const;

  /// @param bytes  that the results will take at most; what is in the folder already counts towards them
  /// @throws OutputError when the file system has less free
  void check_free_space(std::uint64_t bytes) const;

 private:
  std::filesystem::path root_;
};

/// Removes a result of an earlier run, so that it does not pass for one of this run.
/// @throws OutputError
void remove_result(const std::filesystem::path& path);

}  // namespace recon
