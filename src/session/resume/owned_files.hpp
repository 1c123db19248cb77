#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace recon {

/// The files in an output folder that runs of this program wrote, by a list of their names in `status/files`.
///
/// What is not in the list, and a link that no run made, is somebody else's: it is never written over, moved
/// or removed, and no link is followed out of the folder. Names are relative to the folder. Thread-safe.
class OwnedFiles {
 public:
  explicit OwnedFiles(std::filesystem::path root) : root_(std::move(root)) {}

  /// Takes the list that earlier runs left. Where it is missing or damaged, theirs is what their records
  /// name, what every run writes, and the log.
  /// @param of_a_run  whether the folder is one of ours; else nothing in it is
  void load(bool of_a_run);

  /// @throws UsageError where the folder of a file lies outside by a link
  void check_way(const std::string& file);

  /// @throws UsageError as claim does
  void check_all(const std::vector<std::string>& files);

  /// Adds files to the list before the first of them is written, and writes it.
  /// @throws UsageError for a name at which somebody else's file or link is, or whose folder lies outside by
  /// a link; then none is added. OutputError
  void claim(const std::vector<std::string>& files);

  /// The owned files below a folder, such as "tiles".
  std::vector<std::string> below(const std::string& folder) const;

  /// How many of some files are there and would be removed by `remove`.
  int count_removable(const std::vector<std::string>& files);

  /// Removes a file; somebody else's stays.
  /// @returns whether it was there and is removed
  /// @throws OutputError
  bool remove(const std::string& file);

  /// Writes the file that marks the folder as one of ours, unless it has this content.
  /// @throws OutputError
  void mark(const std::string& content);

  /// Writes list and mark again where they were removed from a folder that this process marked; the last
  /// call.
  /// @returns whether it marked the folder
  bool end() noexcept;

  /// Removes the list, if this process wrote it, from a folder that stays unmarked.
  void remove_list() noexcept;

  /// Takes files off the list that are not there: a later one is somebody else's, unless a record names it.
  /// Call it while no other process writes into the folder.
  /// @throws OutputError
  void forget_missing();

  /// Writes list and mark again where they were removed meanwhile, as with the whole folder, so that what was
  /// written since is known to be ours.
  /// @throws OutputError if they had to be
  void check_in_place();

 private:
  bool read_list();
  void add_recorded();
  void write_list() const;
  bool is_link_of_ours(const std::string& file) const;
  bool is_foreign(const std::string& file) const;
  void check_folder(const std::filesystem::path& folder);
  void check(const std::string& file);
  bool is_removable(const std::string& file);
  bool is_in_place() const;
  void restore() const;

  const std::filesystem::path root_;
  mutable std::mutex mutex_;
  std::set<std::string> names_;
  std::set<std::filesystem::path> checked_folders_;  ///< of which no link leads out
  bool written_ = false, has_recorded_ = false;
  std::string mark_;
};

/// Whether a path is a folder or lies in it; both are resolved.
bool lies_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// The file that marks an output folder as one of this program.
inline constexpr const char* kOutputMark = "status/output.json";

/// The files of an output folder that a run reads, by any way to them, and how it names them.
/// @param files  relative to `root`
std::map<std::string, std::filesystem::path> inputs_among(const std::filesystem::path& root,
                                                          const std::vector<std::string>& files,
                                                          const std::vector<std::filesystem::path>& inputs);

/// Refuses to write over them.
/// @param files   that the run writes, relative to `root`
/// @param inputs  that it reads
/// @throws UsageError with both paths
void check_inputs_stay(const std::filesystem::path& root, const std::vector<std::string>& files,
                       const std::vector<std::filesystem::path>& inputs);

}  // namespace recon
