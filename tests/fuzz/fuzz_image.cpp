#include "bytes_input.hpp"
#include "io/image/image_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return recon::feed(data, size, [](auto bytes, const auto& name) {
    // Large images are valid, but decoding one for every input would test nothing more.
    constexpr std::uint64_t kLargest = 1 << 20;
    const auto header = recon::header_size(bytes);
    const int orientation = recon::exif_orientation(bytes);
    if (orientation < 1 || orientation > 8) __builtin_trap();
    const bool plain = recon::has_plain_samples(bytes);
    if (!header || header->width > kLargest || header->height > kLargest ||
        header->width * header->height > kLargest)
      return;
    std::string damage;
    const auto image = recon::decode_image(bytes, name, {}, &damage);
    if (static_cast<std::uint64_t>(image.width()) != header->width ||
        static_cast<std::uint64_t>(image.height()) != header->height)
      __builtin_trap();
    const auto samples = recon::inspect_photo(bytes, name);
    const bool masked = !samples.mask.empty() || samples.all_transparent;
    if (plain && (masked || !samples.range.empty())) __builtin_trap();
  });
}
