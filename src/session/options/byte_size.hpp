#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recon {

/// The number of bytes that a size such as "1GiB", "1.5 G", "500M" or "2048" means. K, M, G, T and KiB, MiB,
/// GiB, TiB are powers of 1024; KB, MB, GB, TB powers of 1000; case does not matter.
/// @throws UsageError that says what the text must be, also for zero
std::size_t parse_byte_size(std::string_view text);

/// A size for people, such as "1.5 GiB".
std::string format_byte_size(std::size_t bytes);

}  // namespace recon
