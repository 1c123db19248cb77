#pragma once

#include <string>
#include <vector>

namespace recon {

/// A file of the sources that is made from the table of options.
struct GeneratedFile {
  std::string path;  ///< in the source tree
  std::string text;
};

/// The options of scenes and of pairs as types of C++ and of Python, without those of the terminal.
/// `write_manual` writes them into a folder of the build, a test compares them with the source tree.
std::vector<GeneratedFile> typed_options();

}  // namespace recon
