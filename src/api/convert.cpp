#include "api/convert.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/pixels.hpp"
#include "match/posed_image.hpp"

namespace reconstruct::detail {

namespace {

std::ptrdiff_t bytes_of(PixelType type) {
  return type == PixelType::kGrey8 ? 1 : type == PixelType::kGrey16 ? 2 : 3;
}

/// An image of `value(pixel)` of all pixels of the caller's.
template <class To, class From, class Value>
recon::Image<To> converted(const ImageView& image, const Value& value) {
  recon::Image<To> result(image.width, image.height);
  for (int y = 0; y < image.height; ++y) {
    const From* from = reinterpret_cast<const From*>(static_cast<const char*>(image.data) + y * image.pitch);
    std::transform(from, from + image.width, result.row(y), value);
  }
  return result;
}

/// The values of an image of 16 bits.
recon::SampleRange range_of_16_bits(const ImageView& image) {
  recon::SampleRange range;
  for (int y = 0; y < image.height; ++y) {
    const auto* row =
        reinterpret_cast<const std::uint16_t*>(static_cast<const char*>(image.data) + y * image.pitch);
    const auto [min, max] = std::minmax_element(row, row + image.width);
    range.include({*min, *max});
  }
  return range;
}

}  // namespace

void check_image(const ImageView& image, const std::string& name) {
  if (image.data == nullptr) throw UsageError(name + " has no pixels");
  if (std::min(image.width, image.height) < 1 || std::max(image.width, image.height) > recon::kMaxImageSide)
    throw UsageError(name + " has " + std::to_string(image.width) + "x" + std::to_string(image.height) +
                     " pixels; each side must be 1 to " + std::to_string(recon::kMaxImageSide));
  const std::ptrdiff_t row = image.width * bytes_of(image.type);
  if (image.pitch < row)
    throw UsageError(name + " has a pitch of " + std::to_string(image.pitch) + " bytes; a row takes " +
                     std::to_string(row));
  if (image.type == PixelType::kGrey16 &&
      (image.pitch % 2 != 0 || reinterpret_cast<std::uintptr_t>(image.data) % 2 != 0))
    throw UsageError(name + " has 16-bit values at odd addresses");
}

recon::StoredGrey stored_grey(const ImageView& image) {
  const auto same = [](auto value) { return value; };
  recon::StoredGrey grey;
  if (image.type == PixelType::kGrey16)
    grey.of_16_bits = converted<std::uint16_t, std::uint16_t>(image, same);
  else if (image.type == PixelType::kGrey8)
    grey.of_8_bits = converted<std::uint8_t, std::uint8_t>(image, same);
  else
    grey.of_8_bits = converted<std::uint8_t, recon::Rgb8>(image, recon::luma);
  return grey;
}

recon::SampleLevels levels_of_images(const std::vector<ImageView>& images) {
  recon::SampleRange range;
  for (const ImageView& image : images) {
    if (image.data == nullptr) continue;
    if (image.type == PixelType::kGrey16) range.include(range_of_16_bits(image));
    if (image.type == PixelType::kRgb8) range.grey = false;
  }
  return recon::levels_of(range);
}

DepthMaps maps_of(recon::ViewDepth maps) {
  return {map_of<float>(std::move(maps.depth)), map_of<Vector3f>(std::move(maps.normal)),
          map_of<float>(std::move(maps.confidence))};
}

recon::Image<recon::Rgb8> colour_of(const ImageView& image, recon::SampleLevels levels) {
  const auto grey = [](std::uint8_t value) { return recon::Rgb8{value, value, value}; };
  if (image.type == PixelType::kGrey8) return converted<recon::Rgb8, std::uint8_t>(image, grey);
  if (image.type == PixelType::kRgb8)
    return converted<recon::Rgb8, recon::Rgb8>(image, [](recon::Rgb8 value) { return value; });
  const std::uint32_t span = levels.white - levels.black;
  return converted<recon::Rgb8, std::uint16_t>(image, [&](std::uint16_t value) {
    const std::uint32_t above = std::clamp<std::uint32_t>(value, levels.black, levels.white) - levels.black;
    return grey(static_cast<std::uint8_t>((255u * above + span / 2) / span));
  });
}

}  // namespace reconstruct::detail
