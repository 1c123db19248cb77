#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// What a terminal shows of the bytes that it gets: characters of one byte, and the control sequences of
/// ECMA-48 for rows. Rows that leave the screen at the top are kept.
class TerminalScreen {
 public:
  TerminalScreen(int columns, int rows) : columns_(columns), rows_(rows) { fill(); }

  /// @throws std::runtime_error for a control character or sequence that it does not know
  void put(std::string_view bytes) {
    for (const char c : bytes) {
      if (!sequence_.empty() || c == '\033')
        add_to_sequence(c);
      else if (c == '\r')
        column_ = 0;
      else if (c == '\n')
        feed();
      else if (static_cast<unsigned char>(c) < 0x20)
        throw std::runtime_error("control character " + std::to_string(c));
      else
        print(c);
    }
  }

  /// @param reflows  whether lines are wrapped for the new width, as by most terminals; others cut them
  void resize(int columns, int rows, bool reflows) {
    columns_ = columns;
    rows_ = rows;
    if (reflows)
      break_lines();
    else
      for (Row& row : lines_) row.text.resize(std::min(row.text.size(), static_cast<std::size_t>(columns)));
    column_ = std::min(column_, columns);
    top_ = std::max(top_, row_ + 1 - rows_);
    fill();
  }

  /// The lines of the text, those above the screen too: what went on in the next row is one line. Without
  /// blanks at their ends and empty lines at its end.
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    bool goes_on = false;
    for (const Row& row : lines_) {
      if (!goes_on) all.emplace_back();
      all.back() += row.text;
      goes_on = row.goes_on;
    }
    for (std::string& line : all) line.erase(line.find_last_not_of(' ') + 1);
    while (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  }

 private:
  struct Row {
    std::string text;
    bool goes_on = false;  ///< in the next one
  };

  void fill() { lines_.resize(std::max(lines_.size(), static_cast<std::size_t>(top_ + rows_))); }

  Row& row() { return lines_[static_cast<std::size_t>(row_)]; }

  void feed() {
    if (++row_ < top_ + rows_) return;
    ++top_;
    fill();
  }

  void print(char c) {
    if (column_ == columns_) {  // only the next character begins a row
      row().goes_on = true;
      feed();
      column_ = 0;
    }
    std::string& text = row().text;
    text.resize(std::max(text.size(), static_cast<std::size_t>(column_) + 1), ' ');
    text[static_cast<std::size_t>(column_++)] = c;
  }

  void add_to_sequence(char c) {
    sequence_ += c;
    if (sequence_.size() < 3 || (c >= '0' && c <= '9')) return;
    const int number = std::atoi(sequence_.c_str() + 2);
    const std::string sequence = sequence_;
    sequence_.clear();
    if (!sequence.starts_with("\033[")) throw std::runtime_error("unknown sequence " + sequence.substr(1));
    if (c == 'A')
      row_ = std::max(top_, row_ - std::max(number, 1));
    else if (c == 'K' && number == 2)
      row() = {};
    else if (c == 'K' && number == 0)
      erase_row_behind();
    else if (c == 'J' && number == 0)
      erase_behind();
    else
      throw std::runtime_error("unknown sequence " + sequence.substr(1));
  }

  void erase_row_behind() {
    std::string& text = row().text;
    text.resize(std::min(text.size(), static_cast<std::size_t>(column_)));
    row().goes_on = false;
  }

  void erase_behind() {
    erase_row_behind();
    for (std::size_t below = static_cast<std::size_t>(row_) + 1; below < lines_.size(); ++below)
      lines_[below] = {};
  }

  /// The cursor keeps its place in the text.
  void break_lines() {
    std::vector<Row> rows;
    int cursor = 0;
    std::string line;
    std::size_t at = std::string::npos;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (static_cast<int>(i) == row_) at = line.size() + static_cast<std::size_t>(column_);
      line += lines_[i].text;
      if (lines_[i].goes_on) continue;
      const std::size_t width = static_cast<std::size_t>(columns_);
      for (std::size_t begin = 0; begin == 0 || begin < line.size(); begin += width) {
        if (at != std::string::npos && at >= begin && (at < begin + width || begin + width >= line.size())) {
          cursor = static_cast<int>(rows.size());
          column_ = static_cast<int>(at - begin);
          at = std::string::npos;
        }
        rows.push_back({line.substr(begin, width), begin + width < line.size()});
      }
      line.clear();
    }
    while (static_cast<int>(rows.size()) > cursor + 1 && rows.back().text.empty()) rows.pop_back();
    lines_ = std::move(rows);
    row_ = cursor;
    top_ = std::max(0, static_cast<int>(lines_.size()) - rows_);
    top_ = std::min(top_, row_);
  }

  int columns_, rows_;
  std::vector<Row> lines_;
  int top_ = 0, row_ = 0, column_ = 0;  ///< the first row of the screen, and the place of the cursor
  std::string sequence_;
};

}  // namespace recon
