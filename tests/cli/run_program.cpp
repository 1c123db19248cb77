#include "cli/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace recon {

Process::Process(const fs::path& folder, const std::vector<std::string>& command)
    : out_(folder / "stdout.txt"), err_(folder / "stderr.txt") {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  const int out = open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int err = open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv(arguments.front(), arguments.data());
  _exit(127);
}

Process::~Process() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, &status_, 0);
}

void Process::send(int signal) const {
  // Of a process that has ended there is no number: that of no process, -1, would mean all there are.
  if (pid_ > 0) kill(pid_, signal);
}

bool Process::running() {
  reap(WNOHANG);
  return pid_ > 0;
}

Outcome Process::wait() {
  reap(0);
  return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -1, content(out_), content(err_), peak_bytes_,
          WIFSIGNALED(status_) ? WTERMSIG(status_) : 0};
}

void Process::reap(int options) {
  rusage usage{};
  if (pid_ <= 0 || wait4(pid_, &status_, options, &usage) != pid_) return;
  pid_ = -1;
  peak_bytes_ = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

Outcome run_program(const fs::path& folder, const std::vector<std::string>& command) {
  return Process(folder, command).wait();
}

Outcome run_in(const fs::path& folder, const std::string& command) {
  return run_program(folder, {"/bin/sh", "-c", "cd '" + folder.string() + "' && " + command});
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json page_data(const fs::path& page, const std::string& kind) {
  const std::string text = content(page), mark = "<script type=\"application/json\" id=" + kind + ">";
  const std::size_t at = text.find(mark), begin = at + mark.size();
  if (at == std::string::npos) return nullptr;
  return nlohmann::json::parse(text.substr(begin, text.find("</script", begin) - begin));
}

void set_content(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::pair<std::string, std::string>> files_below(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files.emplace_back(entry.path().lexically_relative(folder).string(), content(entry.path()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace recon
