#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace recon {

struct TerminalSize {
  int columns = 80, rows = 24;
};

/// Lines of a terminal that are drawn again in place, below all text that stays: one for each thing that goes
/// on. Each drawing asks for the size of the terminal. Where there are more lines than rows, the last row has
/// the number of the others. Thread-safe.
///
/// The cursor waits at the beginning of the first line. A terminal that becomes narrower breaks longer lines
/// into several rows, but the cursor stays where it is in the text, so that the next drawing begins there.
class TerminalLines {
 public:
  /// @param columns  that the text may have; longer ones are cut
  using Text = std::function<std::string(int columns)>;

  /// Takes what the terminal gets, in one piece, and whether it has lines then.
  using Write = std::function<void(const std::string& text, bool has_lines)>;

  TerminalLines(Write write, std::function<TerminalSize()> size);

  /// Adds a line below the others, unless the owner has one.
  /// @param text  called at each drawing, from any thread; must not call this
  void add(const void* owner, Text text);

  /// Takes the line of the owner from the others, and prints it as it is now. Without one nothing happens.
  void end(const void* owner);

  /// Takes the line of the owner from the others, and erases it. Without one nothing happens.
  void remove(const void* owner);

  /// Draws all lines as they are now.
  void draw();

  /// Prints text that stays.
  /// @param text  whole lines
  void print(const std::string& text);

  /// Erases the lines while `others` writes to the same terminal in another way, and draws them again.
  void make_way(const std::function<void()>& others);

 private:
  Text taken(const void* owner);
  void write(const std::string& staying);
  std::string running(int columns, int rows) const;

  const Write write_;
  const std::function<TerminalSize()> size_;
  std::mutex mutex_;
  std::vector<std::pair<const void*, Text>> lines_;
  bool drawn_ = false;  ///< whether the terminal has lines
};

/// Those of standard error.
TerminalLines& standard_error_lines();

/// Erases what is drawn of standard_error_lines(), until they are drawn again, and says whether there was
/// any. Safe in a signal handler.
bool erase_standard_error_lines() noexcept;

}  // namespace recon
