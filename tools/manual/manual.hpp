#pragma once

#include <string>
#include <vector>

#include "tools/manual/completion.hpp"

namespace recon {

// The manual of `reconstruct`, from the descriptions of its options.

/// What `reconstruct --help` prints: the options that are used first, and then the examples, which a terminal
/// of 24 rows still shows.
/// @param columns  that lines have at most, where words permit
std::string help_text(int columns);

/// What `reconstruct --help-all` prints.
std::string full_help_text(int columns);

/// The manual page, in the macros of man(7).
std::string man_page(const std::string& version);

/// The page of the site with all options, in Markdown.
std::string option_reference();

/// What shells complete.
CompletedCommand completed_reconstruct();

/// A file that is made from the table of options.
struct GeneratedFile {
  std::string path;  ///< below sources/ that in the source tree; else the build compiles it
  std::string text;
};

/// The options of scenes and of pairs as types of C++ and of Python, without those of the terminal.
/// `write_manual` writes them into a folder of the build, a test compares them with the source tree.
std::vector<GeneratedFile> typed_options();

}  // namespace recon
