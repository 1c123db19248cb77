#include "io/workspace.hpp"

#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"
#include "io/safe_name.hpp"
#include "io/text_scanner.hpp"

namespace recon {
namespace {

constexpr std::string_view kSeparators = ",;";

bool is_comment(std::string_view name) {
  return name.starts_with('#');
}

std::vector<std::string> split_sources(std::string_view line, const FilePlace& place) {
  std::vector<std::string> sources;
  while (!line.empty()) {
    const std::size_t end = line.find_first_of(kSeparators);
    const std::string_view name = trim(line.substr(0, end));
    line = end == std::string_view::npos ? std::string_view{} : line.substr(end + 1);
    if (name.empty()) continue;
    check_relative_name(name, place);
    sources.emplace_back(name);
  }
  return sources;
}

}  // namespace

void write_patch_match_config(const std::filesystem::path& path,
                              const std::vector<PatchMatchEntry>& entries) {
  std::string text;
  for (const PatchMatchEntry& entry : entries) {
    std::string sources;
    for (const std::string& name : entry.sources) {
      if (name.find_first_of(kSeparators) != std::string::npos || (sources.empty() && is_comment(name)))
        continue;
      sources += (sources.empty() ? "" : ", ") + name;
    }
    if (!sources.empty() && !is_comment(entry.reference)) text += entry.reference + "\n" + sources + "\n";
  }
  write_file(path, text);
}

std::vector<PatchMatchEntry> read_patch_match_config(const std::filesystem::path& path) {
  return parse_patch_match_config(read_file(path), path.string());
}

std::vector<PatchMatchEntry> parse_patch_match_config(std::string_view text, const std::string& file) {
  std::vector<PatchMatchEntry> entries;
  LineScanner lines(text, file);
  std::string_view line;
  while (lines.next_content(line)) {
    check_relative_name(line, lines.place());
    PatchMatchEntry entry{std::string(line), {}};
    if (!lines.next_content(line))
      lines.place().fail("the line with the source images of " + in_quotes(entry.reference) + " is missing");
    entry.sources = split_sources(line, lines.place());
    entries.push_back(std::move(entry));
  }
  return entries;
}

void write_fusion_config(const std::filesystem::path& path, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    if (!is_comment(name)) text += name + "\n";
  write_file(path, text);
}

std::vector<std::string> read_fusion_config(const std::filesystem::path& path) {
  return parse_fusion_config(read_file(path), path.string());
}

std::vector<std::string> parse_fusion_config(std::string_view text, const std::string& file) {
  std::vector<std::string> names;
  LineScanner lines(text, file);
  std::string_view line;
  while (lines.next_content(line)) {
    check_relative_name(line, lines.place());
    names.emplace_back(line);
  }
  return names;
}

}  // namespace recon
