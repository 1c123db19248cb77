#pragma once

#include <filesystem>
#include <string>

namespace recon {

/// The right of one process to write into an output folder, by flock on `status/lock` in it: on network file
/// systems too, and gone with the process, however that ends.
///
/// Shards of one run write side by side: they share the lock, as long as they agree on `shared_key`.
class OutputLock {
 public:
  /// @param folder      the output folder; created where missing
  /// @param shared_key  empty: for this process alone; else what all processes that share the lock agree on
  /// @param wait        wait until the lock is free
  /// @throws UsageError that names the process which holds the lock, without `wait`
  /// @throws OutputError when the folder cannot be written; Interrupted while waiting
  OutputLock(std::filesystem::path folder, std::string shared_key, bool wait);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  /// Whether no other process writes into the folder, as far as its file system can say.
  bool exclusive() const { return exclusive_; }

 private:
  bool try_exclusive();
  bool try_shared();
  void write_holder() const;
  std::string read_holder() const;
  [[noreturn]] void refuse() const;

  std::filesystem::path folder_;
  std::string shared_key_;
  int fd_ = -1;
  bool exclusive_ = false;
};

}  // namespace recon
