#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "io/text_scanner.hpp"

namespace recon {

/// The next records of a text file, each of `lines_each` lines that are copied here, to be parsed in
/// parallel.
class LineBatch {
 public:
  /// Reads up to 4096 records or 16 MiB; false at the end of the file. The first line of a record is a
  /// content line; the others are read as they are, and are empty behind the end of the file.
  bool read(LineScanner& lines, int lines_each) {
    constexpr int kRecords = 4096;
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    text_.clear(), lines_.clear();
    lines_each_ = lines_each;
    std::string_view line;
    while (records() < kRecords && text_.size() < kBytes && lines.next_content(line)) {
      append(line, lines.place());
      for (int i = 1; i < lines_each; ++i) {
        if (!lines.next(line)) line = {};
        append(line, lines.place());
      }
    }
    return !lines_.empty();
  }

  int records() const { return static_cast<int>(lines_.size()) / lines_each_; }
  FilePlace place(int record, int line = 0) const { return at(record, line).place; }
  WordScanner words(int record, int line = 0) const {
    const Line& it = at(record, line);
    return {std::string_view(text_).substr(it.begin, it.size), it.place};
  }

  /// The results of `parse(record)` for all records, in their order, called in parallel.
  /// @throws what the first record throws that does
  template <class Parse>
  auto parse(const Parse& parse) const {
    std::vector<decltype(parse(0))> results(records());
    std::vector<FirstException> faults(results.size());
    parallel_for(records(), [&](int i) { faults[i].guard([&] { results[i] = parse(i); }); });
    for (const FirstException& fault : faults) fault.rethrow();
    return results;
  }

 private:
  struct Line {
    std::size_t begin, size;
    FilePlace place;
  };

  void append(std::string_view line, const FilePlace& place) {
    lines_.push_back({text_.size(), line.size(), place});
    text_ += line;
  }
  const Line& at(int record, int line) const { return lines_[record * lines_each_ + line]; }

  std::string text_;
  std::vector<Line> lines_;
  int lines_each_ = 1;
};

}  // namespace recon
