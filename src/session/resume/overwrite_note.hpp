#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/options/options.hpp"

namespace recon {

/// The note in an output folder that --overwrite asks for its results again, written before the work on any
/// input begins: a run that is stopped before it has said so in the records is continued without the option.
/// It is of one command: its input, --stage, --views and --shard.
class OverwriteNote {
 public:
  /// @param folder  of the output
  /// @param inputs  the folder of the scene, or the two images
  OverwriteNote(const WorkPart& part, const std::filesystem::path& folder,
                const std::vector<std::filesystem::path>& inputs);

  /// Writes it into a folder that holds results. Where that cannot be, the work on the input says why.
  void write() const;

  /// Whether there is one of this command.
  bool is_there() const;

  /// Removes it if it is of this command; one that cannot be removed stays.
  void remove() const;

 private:
  std::filesystem::path folder_, file_;
  std::string text_;
};

}  // namespace recon
