#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace recon {

namespace fs = std::filesystem;

/// What a program left behind.
struct Outcome {
  int exit_code = -1;  ///< -1: ended by a signal
  std::string out, err;
  std::size_t peak_bytes = 0;  ///< largest resident size
  int signal = 0;              ///< that ended it; 0: none did
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A child process whose standard output and error go to files in `folder`.
class Process {
 public:
  Process(const fs::path& folder, const std::vector<std::string>& command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  bool running();
  Outcome wait();

 private:
  void reap(int options);

  fs::path out_, err_;
  pid_t pid_ = -1;
  int status_ = 0;
  std::size_t peak_bytes_ = 0;
};

/// Runs a program to its end.
Outcome run_program(const fs::path& folder, const std::vector<std::string>& command);

/// Runs a command line of a shell in a folder.
Outcome run_in(const fs::path& folder, const std::string& command);

/// The content of a file; empty when there is none.
std::string content(const fs::path& path);

/// The data in a web page: of a "scene", a "pair" or a "session", or the "points" of its cloud; null where it
/// has none. Throws where they are not JSON up to the end of their element.
nlohmann::json page_data(const fs::path& page, const std::string& kind);

/// Replaces the content of a file.
void set_content(const fs::path& path, const std::string& bytes);

/// All files below a folder: relative name and content, in the order of names.
std::vector<std::pair<std::string, std::string>> files_below(const fs::path& folder);

}  // namespace recon
