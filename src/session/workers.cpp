#include "session/workers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "io/file/output_file.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

using nlohmann::json;

/// The number of inputs that workers have taken, in memory that all processes share.
class SharedCounter {
 public:
  SharedCounter()
      : memory_(::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw OutOfMemory("there is no memory that processes can share");
    new (memory_) Count(0);
  }
  SharedCounter(const SharedCounter&) = delete;
  ~SharedCounter() { ::munmap(memory_, sizeof(Count)); }

  std::size_t next() { return static_cast<Count*>(memory_)->fetch_add(1); }
  std::size_t count() const { return static_cast<const Count*>(memory_)->load(); }
  void set(std::size_t count) { static_cast<Count*>(memory_)->store(count); }

 private:
  using Count = std::atomic<std::size_t>;
  static_assert(Count::is_always_lock_free);
  void* memory_;
};

/// Holds back the signals that ask for a stop: a new process would handle them as its parent does until it
/// has handlers of its own.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t stops;
    ::sigemptyset(&stops);
    for (const int number : {SIGINT, SIGTERM}) ::sigaddset(&stops, number);
    ::pthread_sigmask(SIG_BLOCK, &stops, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

/// Sends one JSON object a line.
class PipeChannel : public WorkerChannel {
 public:
  PipeChannel(int fd, SharedCounter& taken, std::size_t inputs) : fd_(fd), taken_(taken), inputs_(inputs) {}

  std::optional<std::size_t> next() override {
    const std::size_t input = taken_.next();
    if (input >= inputs_) return std::nullopt;
    write({{"begun", input}});
    return input;
  }
  void send(std::size_t input, const Outcome& outcome) override {
    write({{"input", input},
           {"exit_code", outcome.exit_code},
           {"object", outcome.object},
           {"text", outcome.text},
           {"report", outcome.report}});
  }
  void fail(const Failure& failure) { write({{"failure", failure.exit_code}, {"message", failure.message}}); }

 private:
  /// Where nobody reads any more, the session has ended.
  void write(const json& message) const {
    write_all(fd_, message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  }

  int fd_;
  SharedCounter& taken_;
  std::size_t inputs_;
};

struct Worker {
  int index = 0;
  pid_t pid = -1;
  int fd = -1;
  std::string received;  ///< the beginning of a line
  std::optional<std::size_t> input;
  bool has_begun = false;  ///< an input
};

class Workers {
 public:
  using Work = std::function<void(int worker, WorkerChannel& channel)>;
  using Done = std::function<void(std::size_t input, Outcome outcome)>;
  using Lost = std::function<void(std::size_t input, const Failure& reason)>;

  Workers(std::size_t inputs, const Work& work, const Done& done, const Lost& lost)
      : inputs_(inputs), work_(work), done_(done), lost_(lost), reported_(inputs) {}

  Workers(const Workers&) = delete;
  ~Workers() {
    stop();
    for (const Worker& worker : workers_) ::close(worker.fd);  // none waits for a reader any more
    for (const Worker& worker : workers_) status_of(worker);
  }

  std::optional<Failure> run(int count) {
    for (int i = 0; i < count; ++i) start(i);
    while (!workers_.empty()) receive();
    if (failure_) return failure_;
    check_interrupted();
    for (std::size_t i = 0; i < inputs_; ++i)
      if (!reported_[i]) lose(i);
    return {};
  }

 private:
  void start(int index) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("a pipe");
    std::optional<HeldSignals> held(std::in_place);
    const pid_t parent = ::getpid(), pid = ::fork();
    if (pid < 0) {
      for (const int fd : ends) ::close(fd);
      fail("a process");
    }
    if (pid == 0) {
      ::close(ends[0]);
      for (const Worker& other : workers_) ::close(other.fd);
      ::setpgid(0, 0);  // a terminal's Ctrl-C reaches only the parent, which passes it on
      install_interrupt_handler(/*announce=*/false);
      held.reset();
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() == parent) work_as(index, ends[1]);
      std::_Exit(0);
    }
    ::close(ends[1]);
    workers_.push_back({index, pid, ends[0], {}, {}, false});
  }

  [[noreturn]] static void fail(const char* what) {
    throw OutputError(fmt::format("{} for --jobs cannot be created: {}", what, std::strerror(errno)));
  }

  /// In the worker; the other pipes end with their processes.
  void work_as(int index, int fd) noexcept {
    PipeChannel channel(fd, taken_, inputs_);
    try {
      work_(index, channel);
    } catch (...) {
      const Failure failure = current_failure(kSessionAdvice);
      channel.fail(failure);
      std::_Exit(failure.exit_code);
    }
  }

  /// Waits for messages and handles them.
  void receive() {
    constexpr int kMilliseconds = 200;  // between looks for Ctrl-C
    std::vector<pollfd> fds;
    for (const Worker& worker : workers_) fds.push_back({worker.fd, POLLIN, 0});
    ::poll(fds.data(), fds.size(), kMilliseconds);
    if (interrupted()) stop();
    for (std::size_t i = fds.size(); i-- > 0;)
      if (fds[i].revents != 0 && !receive_from(workers_[i])) end_of(i);
  }

  /// Returns false at the end of the worker.
  bool receive_from(Worker& worker) {
    char bytes[1 << 16];
    const ssize_t count = ::read(worker.fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    worker.received.append(bytes, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = worker.received.find('\n', begin)) != std::string::npos; begin = end + 1)
      handle(json::parse(worker.received.substr(begin, end - begin)), worker);
    worker.received.erase(0, begin);
    return true;
  }

  void handle(const json& message, Worker& worker) {
    if (message.contains("failure")) {
      worker.input.reset();
      if (!failure_) failure_ = Failure{message.at("failure"), message.at("message")};
      stop();
    } else if (message.contains("begun")) {
      worker.input = message.at("begun");
      worker.has_begun = true;
    } else {
      worker.input.reset();
      const std::size_t input = message.at("input");
      reported_[input] = true;
      done_(input, {message.at("exit_code"), message.at("object"), message.at("text"), message.at("report")});
    }
  }

  void lose(std::size_t input) {
    reported_[input] = true;
    lost_(input, reason_);
  }

  /// A worker has ended. Where it was killed and had begun something, another one takes its place.
  void end_of(std::size_t i) {
    const Worker worker = std::move(workers_[i]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    ::close(worker.fd);
    const int status = status_of(worker);
    if (status == 0) return;
    reason_ = reason_of(status);
    if (worker.input) lose(*worker.input);
    if (worker.has_begun && !stopped_ && taken_.count() < inputs_) start(worker.index);
  }

  static Failure reason_of(int status) {
    if (!WIFSIGNALED(status))
      return {WEXITSTATUS(status), fmt::format("its process ended with exit code {}", WEXITSTATUS(status))};
    constexpr int kUnexpected = 1;
    return {kUnexpected, fmt::format("its process was ended by signal {} ({}){}; {}", WTERMSIG(status),
                                     ::strsignal(WTERMSIG(status)),
                                     WTERMSIG(status) == SIGKILL ? ", perhaps because memory ran out" : "",
                                     kSessionAdvice.interrupted)};
  }

  /// Waits for the process.
  static int status_of(const Worker& worker) {
    int status = 0;
    while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  /// Ends all workers as Ctrl-C does, once.
  void stop() {
    if (std::exchange(stopped_, true)) return;
    taken_.set(inputs_);
    for (const Worker& worker : workers_) ::kill(worker.pid, SIGTERM);
  }

  const std::size_t inputs_;
  const Work& work_;
  const Done& done_;
  const Lost& lost_;
  SharedCounter taken_;
  std::vector<Worker> workers_;
  std::vector<bool> reported_;  ///< inputs, as done or as lost
  Failure reason_;              ///< of the last process that did not end as it should
  std::optional<Failure> failure_;
  bool stopped_ = false;
};

}  // namespace

std::optional<Failure> run_workers(
    int workers, std::size_t inputs, const std::function<void(int worker, WorkerChannel& channel)>& work,
    const std::function<void(std::size_t input, Outcome outcome)>& done,
    const std::function<void(std::size_t input, const Failure& reason)>& lost) {
  return Workers(inputs, work, done, lost).run(workers);
}

}  // namespace recon
