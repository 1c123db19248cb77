#include "io/cloud/ply_header.hpp"

#include <array>
#include <utility>

#include "core/error.hpp"
#include "io/file/text_scanner.hpp"

namespace recon {

namespace {

struct Type {
  std::string_view name, sized_name;
  std::size_t bytes;
};

/// By PlyType.
constexpr std::array<Type, 8> kTypes{{{"char", "int8", 1},
                                      {"uchar", "uint8", 1},
                                      {"short", "int16", 2},
                                      {"ushort", "uint16", 2},
                                      {"int", "int32", 4},
                                      {"uint", "uint32", 4},
                                      {"float", "float32", 4},
                                      {"double", "float64", 8}}};

PlyType type_of(std::string_view word, const FilePlace& place) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (word == kTypes[i].name || word == kTypes[i].sized_name) return static_cast<PlyType>(i);
  place.fail("the type {} is none that PLY has (such as float, uchar or int)", in_quotes(word));
}

PlyFormat parse_format(WordScanner& words) {
  const std::string_view word = words.word("the format");
  if (word == "ascii") return PlyFormat::kAscii;
  if (word == "binary_little_endian") return PlyFormat::kBinaryLittleEndian;
  if (word == "binary_big_endian") return PlyFormat::kBinaryBigEndian;
  words.place().fail("the format {} is none that PLY has (ascii, binary_little_endian, binary_big_endian)",
                     in_quotes(word));
}

PlyProperty parse_property(WordScanner& words) {
  constexpr std::string_view kType = "the type of a property";
  PlyProperty property;
  std::string_view word = words.word(kType);
  if (word == "list") {
    property.is_list = true;
    property.count_type = type_of(words.word(kType), words.place());
    if (property.count_type == PlyType::kFloat || property.count_type == PlyType::kDouble)
      words.place().fail("the length of a list has to be of an integer type");
    word = words.word(kType);
  }
  property.type = type_of(word, words.place());
  property.name = words.word("the name of a property");
  return property;
}

/// Reads a comment of a file that PlyWriter wrote.
void parse_comment(WordScanner& words, Vec3d& offset) {
  if (words.done() || words.word("a comment") != kPlyOffset) return;
  for (double Vec3d::*axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) offset.*axis = words.number("the offset");
}

}  // namespace

std::size_t byte_count(PlyType type) {
  return kTypes[static_cast<std::size_t>(type)].bytes;
}

PlyHeader parse_ply_header(std::string_view bytes, const std::string& file) {
  if (bytes.empty()) throw InputError(file + ": the file is empty");
  LineScanner lines(bytes, file);
  std::string_view line;
  if (!lines.next(line) || line != "ply")
    lines.place().fail("the file does not begin with \"ply\"; it is no PLY file");
  PlyHeader header;
  bool has_format = false, is_own = false;
  while (lines.next(line)) {
    WordScanner words(line, lines.place());
    if (words.done()) continue;
    const std::string_view keyword = words.word("a keyword");
    if (keyword == "end_header") {
      if (!has_format) lines.place().fail("the header has no \"format\" line; the file is corrupt");
      header.line_count = lines.place().position;
      header.body = lines.rest();
      return header;
    }
    if (keyword == "format") {
      header.format = parse_format(words);
      has_format = true;
    } else if (keyword == "element") {
      PlyElement element;
      element.name = words.word("the name of an element");
      element.count = words.integer<std::uint64_t>("the number of elements");
      element.line = lines.place().position;
      header.elements.push_back(std::move(element));
    } else if (keyword == "property") {
      if (header.elements.empty())
        lines.place().fail("a property stands before the first element; the file is corrupt");
      header.elements.back().properties.push_back(parse_property(words));
    } else if (keyword == "comment") {
      if (is_own) parse_comment(words, header.offset);
      is_own |= trim(words.rest()) == kPlyAuthor;
    } else if (keyword != "obj_info") {
      lines.place().fail("the header has the keyword {}, which PLY does not have; the file is corrupt",
                         in_quotes(keyword));
    }
  }
  lines.place().fail("the header has no \"end_header\"; the file is truncated");
}

}  // namespace recon
