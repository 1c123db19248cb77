#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "io/file/text_scanner.hpp"
#include "session/options/options.hpp"

// Values of options as texts, and texts for people.

namespace recon {

/// The number of bytes that a size such as "1GiB", "1.5 G", "500M" or "2048" means. K, M, G, T and KiB, MiB,
/// GiB, TiB are powers of 1024; KB, MB, GB, TB powers of 1000; case does not matter.
/// @throws UsageError that says what the text must be, also for zero
std::size_t parse_byte_size(std::string_view text);

/// A size for people, such as "1.5 GiB".
std::string format_byte_size(std::size_t bytes);

/// @throws UsageError that says what the text must be
int parse_integer(const std::string& text);
template <class T>
T parse_number(const std::string& text) {
  if constexpr (std::is_same_v<T, int>) return parse_integer(text);
  if (const auto value = to_number<T>(text)) return *value;
  throw UsageError("it must be a number");
}

/// The text of `--offset` with numbers; empty for zeros.
std::string offset_text(Vec3d offset);

/// The text of `--roi` of a pair; empty for the whole image.
std::string format_region(const Region& region);

/// The text of `--roi` of a scene; empty for no box.
std::string format_box(const std::optional<SceneBox>& box);

/// The same for people: to six digits of the largest number.
std::string rounded_box(const SceneBox& box);

/// Whether `word` is one of `words`.
bool contains(const std::vector<std::string>& words, const std::string& word);

/// "a, b or c".
/// @param last  the word before the last one
std::string list_of(const std::vector<std::string>& words, const std::string& last = "or");

/// The parts of a text between commas, at least one.
std::vector<std::string> split_list(const std::string& text);

}  // namespace recon
