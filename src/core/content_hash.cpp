#include "core/content_hash.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "core/error.hpp"

namespace recon {

struct ContentHasher::State {
  XXH3_state_t xxh3;
};

ContentHasher::ContentHasher() : rest_(std::make_unique<State>()) {
  XXH3_64bits_reset(&rest_->xxh3);
}

ContentHasher::~ContentHasher() = default;

ContentHasher::ContentHasher(ContentHasher&&) noexcept = default;

void ContentHasher::add(std::string_view bytes) {
  size_ += bytes.size();
  const std::size_t first = std::min(bytes.size(), kBeginning - beginning_.size());
  beginning_.append(bytes.substr(0, first));
  XXH3_64bits_update(&rest_->xxh3, bytes.data() + first, bytes.size() - first);
}

void ContentHasher::replace_beginning(std::string_view bytes) {
  EXPECTS(bytes.size() <= beginning_.size());
  beginning_.replace(0, bytes.size(), bytes);
}

FileIdentity ContentHasher::identity() const {
  std::uint64_t hash = XXH3_64bits(beginning_.data(), beginning_.size());
  if (size_ > kBeginning) hash = XXH3_64bits_withSeed(&hash, sizeof hash, XXH3_64bits_digest(&rest_->xxh3));
  return {size_, fmt::format("{:016x}", hash)};
}

std::string content_hash(std::string_view bytes) {
  ContentHasher hasher;
  hasher.add(bytes);
  return hasher.identity().hash;
}

std::optional<FileIdentity> identify_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return std::nullopt;  // to open a pipe may take for ever
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  ContentHasher hasher;
  std::string piece(std::size_t{1} << 16, '\0');  // larger blocks go back to the system each time
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hasher.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) return std::nullopt;
  return hasher.identity();
}

}  // namespace recon
