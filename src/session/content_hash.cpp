#include "session/content_hash.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace recon {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Takes bytes in pieces; every piece but the last is a multiple of 8 bytes long.
class Hasher {
 public:
  void add(std::string_view bytes) {
    size_ += bytes.size();
    std::size_t i = 0;
    for (; i + kWord <= bytes.size(); i += kWord) mix(load(bytes.data() + i, kWord));
    if (i < bytes.size()) mix(load(bytes.data() + i, bytes.size() - i));
  }

  std::uint64_t finish() {
    mix(size_);
    state_ ^= state_ >> 32;
    state_ *= 0xd6e8feb86659fd93u;
    return state_ ^ (state_ >> 32);
  }

 private:
  /// Little-endian, so that the value does not depend on the machine.
  static std::uint64_t load(const char* bytes, std::size_t count) {
    std::uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&word, bytes, count);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return word;
  }

  /// Every bit of the word reaches high and low bits before it meets the state, so that two changes in
  /// neighbouring words do not cancel out.
  void mix(std::uint64_t word) {
    word *= 0x9e3779b97f4a7c15u;
    word ^= word >> 32;
    word *= 0xbf58476d1ce4e5b9u;
    state_ = std::rotl(state_ ^ word, 27) * 0x94d049bb133111ebu;
  }

  std::uint64_t state_ = 0xcbf29ce484222325u;
  std::uint64_t size_ = 0;
};

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

std::string content_hash(std::string_view bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return hexadecimal(hasher.finish());
}

std::optional<FileIdentity> identify_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  Hasher hasher;
  FileIdentity identity;
  std::string piece(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    hasher.add({piece.data(), count});
    identity.size += count;
  }
  if (file.bad()) return std::nullopt;
  identity.hash = hexadecimal(hasher.finish());
  return identity;
}

}  // namespace recon
