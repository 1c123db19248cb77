// OpenEXR files as maps: written here by their specification, without a library.
#include "io/map/exr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/file/byte_reader.hpp"
#include "io/map/given_map.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// An image of floats by lines, without compression.
struct ExrFile {
  std::vector<std::string> channels = {"Y"};  ///< in the order of the alphabet
  int width = 4, height = 3, left = 0, top = 0;
  std::int32_t type = 2;  ///< float
  std::uint32_t version = 2;
  std::function<float(const std::string& channel, int x, int y)> value = [](const auto&, int x, int y) {
    return static_cast<float>(10 * y + x);
  };

  std::string bytes() const {
    std::string file = "v/1\x01";
    append_number(file, version);
    std::string list;
    for (const std::string& channel : channels) {
      list += channel + '\0';
      append_number(list, type);
      list += std::string(4, '\0');
      append_number(list, std::int32_t{1});
      append_number(list, std::int32_t{1});
    }
    attribute(file, "channels", "chlist", list + '\0');
    attribute(file, "compression", "compression", std::string(1, '\0'));
    std::string box;
    for (const int corner : {left, top, left + width - 1, top + height - 1}) append_number(box, corner);
    attribute(file, "dataWindow", "box2i", box);
    attribute(file, "displayWindow", "box2i", box);
    attribute(file, "lineOrder", "lineOrder", std::string(1, '\0'));
    std::string one;
    append_number(one, 1.0f);
    attribute(file, "pixelAspectRatio", "float", one);
    attribute(file, "screenWindowCenter", "v2f", std::string(8, '\0'));
    attribute(file, "screenWindowWidth", "float", one);
    file += '\0';
    const std::size_t line = 4 * channels.size() * static_cast<std::size_t>(width),
                      first = file.size() + 8 * static_cast<std::size_t>(height);
    for (int y = 0; y < height; ++y)
      append_number(file, std::uint64_t{first + static_cast<std::size_t>(y) * (8 + line)});
    for (int y = 0; y < height; ++y) {
      append_number(file, std::int32_t{top + y});
      append_number(file, static_cast<std::int32_t>(line));
      for (const std::string& channel : channels)
        for (int x = 0; x < width; ++x) append_number(file, value(channel, x, y));
    }
    return file;
  }

 private:
  static void attribute(std::string& file, const std::string& name, const std::string& of_type,
                        const std::string& content) {
    file += name + '\0' + of_type + '\0';
    append_number(file, static_cast<std::int32_t>(content.size()));
    file += content;
  }
};

std::string exr_fault(const std::string& bytes) {
  return message_of<InputError>([&] { parse_exr(bytes, "a.exr"); });
}

void expect_numbers(const Image<float>& map) {
  ASSERT_EQ(map.width(), 4);
  ASSERT_EQ(map.height(), 3);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) EXPECT_EQ(map(x, y), static_cast<float>(10 * y + x));
}

TEST(ExrMap, HasTheNumbersOfItsOnlyChannel) {
  for (const char* name : {"Y", "Z", "R", "V", "d"}) {
    SCOPED_TRACE(name);
    expect_numbers(parse_exr(ExrFile{.channels = {name}}.bytes(), "a.exr"));
  }
  expect_numbers(parse_exr(ExrFile{.left = -7, .top = 12}.bytes(), "a.exr"));
}

TEST(ExrMap, OfGreyAsColoursIsTaken) {
  expect_numbers(parse_exr(ExrFile{.channels = {"B", "G", "R"}}.bytes(), "a.exr"));
  ExrFile with_alpha{.channels = {"A", "B", "G", "R"}};
  with_alpha.value = [](const std::string& channel, int x, int y) {
    return channel == "A" ? 0.5f : static_cast<float>(10 * y + x);
  };
  expect_numbers(parse_exr(with_alpha.bytes(), "a.exr"));
  with_alpha.value = [](const std::string& channel, int, int) { return static_cast<float>(channel[0]); };
  EXPECT_THAT(exr_fault(with_alpha.bytes()), HasSubstr("the channels R, G and B have different numbers"));
}

TEST(ExrMap, OfOtherKindsIsRefused) {
  EXPECT_THAT(exr_fault(ExrFile{.channels = {"X", "Z"}}.bytes()),
              HasSubstr("has the channels X, Z; a map has one"));
  EXPECT_THAT(exr_fault(ExrFile{.channels = {"depth.V"}}.bytes()), HasSubstr("has the channels depth.V"));
  EXPECT_THAT(exr_fault(ExrFile{.type = 0}.bytes()), HasSubstr("the channel \"Y\" has whole numbers"));
  EXPECT_THAT(exr_fault(ExrFile{.version = 3}.bytes()), HasSubstr("the version of the OpenEXR file is 3"));
  EXPECT_THAT(exr_fault(ExrFile{.version = 2 | 0x1000}.bytes()),
              HasSubstr("has several images, or deep ones"));
}

TEST(ExrMap, ThatIsDamagedIsRefused) {
  const std::string whole = ExrFile().bytes();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_THROW(parse_exr(whole.substr(0, bytes), "a.exr"), InputError) << bytes;
  std::string large = whole;
  const std::size_t window = large.find("box2i") + 10;
  store_number(&large[window + 8], std::int32_t{29999});
  store_number(&large[window + 12], std::int32_t{29999});
  EXPECT_THAT(exr_fault(large),
              AllOf(HasSubstr("the header says 30000x30000"), HasSubstr("is truncated or corrupt")));
  EXPECT_THAT(exr_fault("Pf\n"), HasSubstr("an OpenEXR file begins with"));
}

TEST(ExrMap, IsReadAsGivenMapsAre) {
  const TemporaryFolder folder;
  ExrFile file;
  file.value = [](const std::string&, int x, int y) {
    return x == 1 ? 0 : x == 2 ? std::numeric_limits<float>::infinity() : static_cast<float>(y + 1);
  };
  spill(folder / "a.exr", file.bytes());
  EXPECT_FALSE(has_whole_numbers(folder / "a.exr"));
  EXPECT_EQ(given_depth_size(folder / "a.exr"), (ImageSize{4, 3}));
  EXPECT_GE(reading_bytes(folder / "a.exr"), 12u * 4 * 4);
  const Image<float> depth = read_given_depth(folder / "a.exr", 2.0);
  EXPECT_EQ(depth(0, 1), 4);
  EXPECT_TRUE(std::isnan(depth(1, 1)));
  EXPECT_TRUE(std::isnan(depth(2, 1)));
  EXPECT_EQ(read_given_values(folder / "a.exr")(3, 2), 3);
}

}  // namespace
}  // namespace recon
