#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// A folder with a map of each of some views, which other programs made. Thread-safe once they are found.
class MapFolder {
 public:
  /// The files of a view.
  struct Files {
    std::filesystem::path depth, confidence;  ///< no path: no confidence is given
    std::string fault;                        ///< why they are not read; empty: they are
  };

  /// What is looked for.
  struct Search {
    std::string option;      ///< what messages call the folder
    bool of_priors = false;  ///< parts of a photo may share its map; confidences as sensors have them
    std::function<void(const std::filesystem::path&)> check = {};  ///< called with each file that is found
  };

  /// Looks for the maps of views: below `folder`, or its stereo/depth_maps where it is a workspace of COLMAP,
  /// the files that the model names (depth_file_path), or else files with the name of the view and the ending
  /// of a map. Where no other view has it, the name without its first folders, or without the ending of a
  /// photo, will do. Confidences are NAME.confidence.* beside the depths or, of the program's own maps, in
  /// the folder confidence_maps beside depth_maps; of priors NAME_confidence.* too, and NAME.* in a folder
  /// `confidence` beside that of the depths. A map that takes more than `max_bytes` to read is a fault of its
  /// view.
  /// @throws InputError when the folder is none or no view has a map; what `check` throws
  void find(const Search& search, const std::filesystem::path& folder, const std::vector<View>& views,
            std::size_t max_bytes);

  /// Whether any view has a map.
  bool any() const { return !files_.empty(); }
  bool has(const std::string& view) const { return files_.contains(view); }
  /// Whether it has one that is not too large to be read.
  bool is_readable(const std::string& view) const { return has(view) && of(view).fault.empty(); }

  /// The files of all views.
  std::vector<std::filesystem::path> files() const;

  /// Bytes that reading the largest one takes of those that are read.
  std::size_t reading_bytes() const { return reading_bytes_; }

  /// What identifies the content of the maps of a view that has them. A file is read once; a run that finds
  /// another content later makes another result.
  nlohmann::json identity(const std::string& view) const;

  const Files& of(const std::string& view) const { return files_.at(view); }
  /// @throws InputError where they are not to be read
  const Files& readable(const std::string& view) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, Files> files_;
  std::size_t reading_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<std::string, nlohmann::json> identities_;
};

}  // namespace recon
