#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace recon {

/// Mixes all bits of x: the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014). Random numbers of the renderer are hashes of seed, view, pixel and
/// channel, so that they depend neither on the order of the work nor on a standard library.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The hash of a sequence of numbers; order matters.
template <class... Numbers>
constexpr std::uint64_t hash_of(Numbers... numbers) {
  std::uint64_t h = 0;
  ((h = mix_bits(h ^ static_cast<std::uint64_t>(numbers))), ...);
  return h;
}

/// A uniform random number in [0, 1) from a hash.
constexpr double uniform_of(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

/// A standard normal random number from a hash (Box and Muller 1958).
inline double gaussian_of(std::uint64_t hash) {
  const double u = 1.0 - uniform_of(hash);  // in (0, 1]
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * uniform_of(mix_bits(hash)));
}

}  // namespace recon
