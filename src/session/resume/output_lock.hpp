#pragma once

#include <filesystem>
#include <string>

namespace recon {

/// The right of one process to write into an output folder, by flock on `status/lock` in it: on network file
/// systems too, and gone with the process, however that ends.
///
/// Shards of one run write concurrently: they share the lock if they agree on `shared_key`.
class OutputLock {
 public:
  /// @param folder      the output folder; created where missing
  /// @param shared_key  empty: for this process alone; else what all processes that share the lock agree on
  /// @param wait        wait until the lock is free
  /// @param file        the locked file, below the folder
  /// @throws UsageError that names the process which holds the lock, without `wait`
  /// @throws OutputError when the folder cannot be written; Interrupted while waiting
  OutputLock(std::filesystem::path folder, std::string shared_key, bool wait,
             const char* file = "status/lock");
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  /// Whether no other process writes into the folder; false also where the file system has no locks.
  bool exclusive() const { return exclusive_; }

  /// Whether another process had to be waited for.
  bool waited() const { return waited_; }

  /// Removes the locked file, unless another process shares the lock; processes that wait for it make another
  /// one. The last call.
  void remove_file() noexcept;

 private:
  /// An open file.
  struct Descriptor {
    int number = -1;
    ~Descriptor() { close(); }
    void close() noexcept;
  };

  void open_file();
  bool is_in_place() const;
  bool lock(int operation);
  bool try_exclusive();
  bool try_shared();
  void write_owner() const;
  std::string read_owner() const;
  [[noreturn]] void refuse() const;

  std::filesystem::path folder_;
  std::filesystem::path file_;
  std::string shared_key_;
  Descriptor descriptor_;
  bool exclusive_ = false, waited_ = false, unsupported_ = false;
};

}  // namespace recon
