#include "core/content_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace recon {

namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

struct ContentHasher::State {
  XXH3_state_t xxh3;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

ContentHasher::~ContentHasher() = default;

void ContentHasher::add(std::string_view bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
  size_ += bytes.size();
}

FileIdentity ContentHasher::identity() const {
  return {size_, hexadecimal(XXH3_64bits_digest(&state_->xxh3))};
}

std::string content_hash(std::string_view bytes) {
  return hexadecimal(XXH3_64bits(bytes.data(), bytes.size()));
}

std::optional<FileIdentity> identify_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  ContentHasher hasher;
  std::string piece(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hasher.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) return std::nullopt;
  return hasher.identity();
}

}  // namespace recon
