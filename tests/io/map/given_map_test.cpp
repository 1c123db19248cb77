// Maps of other programs: arrays of NumPy, 16-bit PNG, and what all formats have in common.
#include "io/map/given_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/map/npy.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

/// A file as numpy.save writes it.
std::string npy(const std::string& descr, const std::string& shape, const std::string& numbers,
                const std::string& fortran = "False", std::size_t header_bytes = 118) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.append(header_bytes - 1 - header.size(), ' ').append("\n");
  return "\x93NUMPY\x01\x00"s + static_cast<char>(header_bytes % 256) +
         static_cast<char>(header_bytes / 256) + header + numbers;
}

template <class T>
std::string numbers(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<float> pixels(const Image<float>& map) {
  std::vector<float> all;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) all.push_back(map(x, y));
  return all;
}

TEST(NumpyArray, HasRowsOfNumbersOfAnyType) {
  const std::vector<float> expected = {1, 2, 3, 4, 5, 6};
  const auto read = [](const std::string& bytes) { return pixels(parse_npy(bytes, "a.npy")); };
  EXPECT_EQ(read(npy("<f4", "(2, 3)", numbers<float>({1, 2, 3, 4, 5, 6}))), expected);
  EXPECT_EQ(read(npy("<f8", "(2, 3)", numbers<double>({1, 2, 3, 4, 5, 6}))), expected);
  EXPECT_EQ(read(npy("<u2", "(2, 3)", numbers<std::uint16_t>({1, 2, 3, 4, 5, 6}))), expected);
  EXPECT_EQ(read(npy("|u1", "(2, 3)", "\1\2\3\4\5\6")), expected);
  EXPECT_EQ(read(npy(">u2", "(2, 3)", "\0\1\0\2\0\3\0\4\0\5\0\6"s)), expected);
  EXPECT_EQ(read(npy("<f2", "(1, 2)", "\0\x3C\0\xC0"s)), (std::vector<float>{1, -2}));
  EXPECT_EQ(read(npy("<f4", "(2, 3)", numbers<float>({1, 4, 2, 5, 3, 6}), "True")), expected);
  for (const char* shape : {"(2, 3, 1)", "(1, 2, 3)", "(1,2,3,1)"})
    EXPECT_EQ(read(npy("<f4", shape, numbers<float>({1, 2, 3, 4, 5, 6}))), expected) << shape;
}

TEST(NumpyArray, HasAHeaderAsPythonReadsIt) {
  const std::vector<float> expected = {1, 2, 3, 4, 5, 6};
  const std::string by_rows = numbers<float>({1, 2, 3, 4, 5, 6}),
                    by_columns = numbers<float>({1, 4, 2, 5, 3, 6});
  const auto read = [](const std::string& bytes) { return pixels(parse_npy(bytes, "a.npy")); };
  for (const char* shape : {"(2L, 3L)", "(  2 ,3  )", "(2,\t3)", "(\n2,\n3,\n)", "\t(2, 3)", "(2 , 3 , )"})
    EXPECT_EQ(read(npy("<f4", shape, by_rows)), expected) << shape;
  for (const char* order : {" True", "\tTrue", "\n  True"})
    EXPECT_EQ(read(npy("<f4", "(2, 3)", by_columns, order)), expected) << order;
  std::string quoted = npy("<f4", "(2, 3)", by_rows);
  std::ranges::replace(quoted, '\'', '"');
  EXPECT_EQ(read(quoted), expected);
  std::string spaced = npy("<f4", "(2, 3)", by_columns, "True");
  for (std::size_t at = spaced.find(':'); at != std::string::npos; at = spaced.find(':', at + 2)) {
    spaced.insert(at, "\t");
    spaced.erase(spaced.rfind("  "), 1);
  }
  EXPECT_EQ(read(spaced), expected);
}

TEST(NumpyArray, RefusesWhatIsNoMap) {
  const auto refusal = [](const std::string& bytes) {
    return message_of<InputError>([&] { parse_npy(bytes, "a.npy"); });
  };
  const std::string one = numbers<float>({1});
  EXPECT_THAT(refusal(""), HasSubstr("a.npy: byte 0: the file begins with"));
  EXPECT_THAT(refusal("Pf\n1 1\n"), HasSubstr("numpy.save"));
  EXPECT_THAT(refusal("\x93NUMPY\x09\x00\x05\x00{abcd"s), HasSubstr("version of the array is 9"));
  EXPECT_THAT(refusal(npy("<f4", "(1, 1)", one).substr(0, 60)), HasSubstr("ends inside the header"));
  EXPECT_THAT(refusal(npy("<f4", "(1, 2)", one)), HasSubstr("takes 8 bytes, but 4 follow"));
  EXPECT_THAT(refusal(npy("<f4", "(1, 1)", one + "x")), HasSubstr("takes 4 bytes, but 5 follow"));
  EXPECT_THAT(refusal(npy("<c8", "(1, 1)", one)), HasSubstr("numbers of the type \"'<c8'\""));
  EXPECT_THAT(refusal(npy("|O", "(1, 1)", one)), HasSubstr("numbers of the type"));
  EXPECT_THAT(refusal(npy("<f4", "(1,)", one)), HasSubstr("a map has rows and columns"));
  EXPECT_THAT(refusal(npy("<f4", "(3, 1, 3)", one)), HasSubstr("a map has rows and columns"));
  EXPECT_THAT(refusal(npy("<f4", "(-1, 1)", one)), HasSubstr("the shape of the array is"));
  for (const char* shape : {"(1, x)", "(1,,1)", "(,1,1)", "(1 1)", "[1, 1]", "(1, 1", "(1, 1.0)", "(1, L)"})
    EXPECT_THAT(refusal(npy("<f4", shape, one)), HasSubstr("the shape of the array is")) << shape;
  EXPECT_THAT(refusal(npy("<f4", "(1, 1)", one, "1")), HasSubstr("'fortran_order' of the array is"));
  EXPECT_THAT(refusal(npy("<f4", "(99999999, 99999999)", one)), HasSubstr("2^30"));
  EXPECT_THAT(refusal("\x93NUMPY\x01\x00\x02\x00{}"s), HasSubstr("no value of 'descr'"));
}

TEST(GivenDepth, IsInSceneUnitsAndUnknownWhereItIsNoDepth) {
  const TemporaryFolder folder;
  const float infinity = std::numeric_limits<float>::infinity();
  write_file(folder / "a.npy", npy("<f4", "(1, 5)", numbers<float>({2, 0, -1, kUnknown, infinity})));
  const Image<float> depth = read_given_depth(folder / "a.npy", {});
  EXPECT_EQ(depth(0, 0), 2);
  for (int x = 1; x < 5; ++x) EXPECT_TRUE(std::isnan(depth(x, 0))) << x;
  EXPECT_EQ(read_given_depth(folder / "a.npy", 0.25)(0, 0), 0.5f);
  Image<float> map(2, 1, 3.0f);
  map(1, 0) = kUnknown;
  write_pfm(folder / "a.pfm", map.view());
  write_depth_map(folder / "a.bin", map.view());
  for (const char* file : {"a.pfm", "a.bin"}) {
    const Image<float> read = read_given_depth(folder / file, {});
    EXPECT_EQ(read(0, 0), 3) << file;
    EXPECT_TRUE(std::isnan(read(1, 0))) << file;
  }
}

TEST(GivenDepth, OfWholeNumbersNeedsAUnit) {
  const TemporaryFolder folder;
  Image<std::uint16_t> map(2, 1, std::uint16_t{0});
  map(0, 0) = 1500;
  write_png16(folder / "a.png", map.view());
  write_file(folder / "a.npy", npy("<u2", "(1, 2)", numbers<std::uint16_t>({1500, 0})));
  for (const char* file : {"a.png", "a.npy"}) {
    EXPECT_TRUE(has_whole_numbers(folder / file)) << file;
    EXPECT_THAT(message_of<InputError>([&] { read_given_depth(folder / file, {}); }),
                HasSubstr("--depth-unit says how many scene units"))
        << file;
    const Image<float> depth = read_given_depth(folder / file, 0.001);
    EXPECT_EQ(depth(0, 0), 1.5f) << file;
    EXPECT_TRUE(std::isnan(depth(1, 0))) << file;
  }
  for (const std::size_t header_bytes : {5000u, 65535u}) {
    write_file(folder / "c.npy",
               npy("<u2", "(1, 2)", numbers<std::uint16_t>({1500, 0}), "False", header_bytes));
    EXPECT_TRUE(has_whole_numbers(folder / "c.npy")) << header_bytes;
  }
  write_image(folder / "b.png", Image<std::uint8_t>(2, 1, 7).view());
  EXPECT_THAT(message_of<InputError>([&] { read_given_depth(folder / "b.png", 1.0); }),
              HasSubstr("a 16-bit grey PNG is needed"));
}

TEST(GivenConfidence, LiesBetween0And1) {
  const TemporaryFolder folder;
  write_file(folder / "a.npy", npy("<f4", "(1, 3)", numbers<float>({0.5f, -1, kUnknown})));
  EXPECT_EQ(pixels(read_given_confidence(folder / "a.npy")), (std::vector<float>{0.5f, 0, 0}));
  write_file(folder / "b.npy", npy("|u1", "(1, 2)", "\xFF\x33"));
  EXPECT_EQ(pixels(read_given_confidence(folder / "b.npy")), (std::vector<float>{1, 0.2f}));
  write_image(folder / "c.png", Image<std::uint8_t>(1, 1, 51).view());
  EXPECT_EQ(read_given_confidence(folder / "c.png")(0, 0), 0.2f);
  write_file(folder / "d.npy", npy("<f4", "(1, 2)", numbers<float>({0.5f, 2})));
  EXPECT_THAT(message_of<InputError>([&] { read_given_confidence(folder / "d.npy"); }),
              HasSubstr("d.npy: pixel (1, 0) has the confidence 2; a confidence lies between 0 and 1"));
}

/// ARKit's levels are 0, 1 and 2; other bytes are parts of 255, as of --depth-maps.
TEST(PriorConfidence, HasLevelsOfSensors) {
  const TemporaryFolder folder;
  const auto png = [&](const std::vector<std::uint8_t>& values) {
    Image<std::uint8_t> map(static_cast<int>(values.size()), 1);
    std::ranges::copy(values, map.row(0));
    write_image(folder / "a.png", map.view());
    return pixels(read_prior_confidence(folder / "a.png"));
  };
  EXPECT_EQ(png({0, 1, 2}), (std::vector<float>{0, 0.5f, 1}));
  EXPECT_EQ(png({0, 0}), (std::vector<float>{0, 0}));
  EXPECT_EQ(png({0, 51, 255}), (std::vector<float>{0, 0.2f, 1}));
  write_file(folder / "a.npy", npy("|u1", "(1, 3)", "\0\1\2"s));
  EXPECT_EQ(pixels(read_prior_confidence(folder / "a.npy")), (std::vector<float>{0, 0.5f, 1}));
  Image<float> map(2, 1, 0.25f);
  map(1, 0) = kUnknown;
  write_depth_map(folder / "a.bin", map.view());
  EXPECT_EQ(pixels(read_prior_confidence(folder / "a.bin")), (std::vector<float>{0.25f, 0}));
  write_png16(folder / "b.png", Image<std::uint16_t>(1, 1, std::uint16_t{2}).view());
  EXPECT_LT(read_prior_confidence(folder / "b.png")(0, 0), 1e-4f) << "of 65535";
}

TEST(GivenMap, TakesItsFileAndItsPixelsInMemory) {
  const TemporaryFolder folder;
  constexpr std::size_t kPixels = 100 * 80;
  const auto array = [&](const std::string& type, std::size_t bytes) {
    write_file(folder / "a.npy", npy(type, "(80, 100)", std::string(bytes * kPixels, '\0')));
    return folder / "a.npy";
  };
  // Pixels of 4 bytes beside the file, or twice, of what is read and what it means.
  EXPECT_GE(reading_bytes(array("<f8", 8)), 12 * kPixels);
  EXPECT_GE(reading_bytes(array("<f4", 4)), 8 * kPixels);
  EXPECT_GE(reading_bytes(array("<f2", 2)), 8 * kPixels);
  EXPECT_GE(reading_bytes(array("|u1", 1)), 8 * kPixels);
  EXPECT_GE(reading_bytes(array("|u1", 1)), 8 * kPixels);
  EXPECT_GE(reading_bytes(array("<f8", 8)), 12 * kPixels);
  EXPECT_LE(reading_bytes(array("<f8", 8)), 13 * kPixels);
  const Image<float> map(100, 80, 1.0f);
  write_pfm(folder / "a.pfm", map.view());
  EXPECT_GE(reading_bytes(folder / "a.pfm"), 8 * kPixels);
  EXPECT_LE(reading_bytes(folder / "a.pfm"), 9 * kPixels);
  write_depth_map(folder / "a.bin", map.view());
  EXPECT_GE(reading_bytes(folder / "a.bin"), 8 * kPixels);
  write_png16(folder / "a.png", Image<std::uint16_t>(100, 80, std::uint16_t{1}).view());
  EXPECT_GE(reading_bytes(folder / "a.png"), 10 * kPixels);
  EXPECT_GE(reading_bytes(folder / "a.png"), 10 * kPixels);
}

TEST(GivenMap, HasItsSizeInTheHeaderOfAWholeFile) {
  const TemporaryFolder folder;
  const std::string values(12 * 5, '\1');
  write_pfm(folder / "a.pfm", Image<float>(5, 3, 1.0f).view());
  write_depth_map(folder / "a.bin", Image<float>(5, 3, 1.0f).view());
  write_file(folder / "a.npy", npy("<f4", "(3, 5)", values));
  write_png16(folder / "a.png", Image<std::uint16_t>(5, 3, std::uint16_t{1}).view());
  for (const char* file : {"a.pfm", "a.bin", "a.npy", "a.png"}) {
    EXPECT_EQ(given_map_size(folder / file), (ImageSize{5, 3})) << file;
    EXPECT_EQ(given_depth_size(folder / file), (ImageSize{5, 3})) << file;
  }
  for (const char* file : {"a.pfm", "a.bin", "a.npy"}) {
    write_file(folder / file, slurp(folder / file) + "x");
    const std::string message = message_of<InputError>([&] { given_map_size(folder / file); });
    EXPECT_THAT(message, HasSubstr("takes 60 bytes, but 61 follow"));
    EXPECT_EQ(message, message_of<InputError>([&] { read_given_depth(folder / file, {}); }));
  }
  write_image(folder / "b.png", Image<std::uint8_t>(5, 3, 7).view());
  EXPECT_EQ(given_map_size(folder / "b.png"), (ImageSize{5, 3}));
  EXPECT_THAT(message_of<InputError>([&] { given_depth_size(folder / "b.png"); }),
              HasSubstr("b.png: has samples of 8 bits; a 16-bit grey PNG is needed"));
}

TEST(GivenMap, IsSampledWhereTheImageHasTheCentresOfItsPixels) {
  Image<float> map(4, 2);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x) map(x, y) = static_cast<float>(10 * y + x);
  EXPECT_EQ(pixels(resized_to_nearest(map.clone(), 2, 1)), (std::vector<float>{11, 13}));
  EXPECT_EQ(pixels(resized_to_nearest(map.clone(), 8, 2)),
            (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3, 10, 10, 11, 11, 12, 12, 13, 13}));
  EXPECT_EQ(pixels(resized_to_nearest(map.clone(), 4, 2)), pixels(map));
}

TEST(GivenMap, HasTheShapeOfItsImageUpToRounding) {
  EXPECT_TRUE(same_shape_of_image(640, 480, 640, 480));
  EXPECT_TRUE(same_shape_of_image(333, 250, 1001, 751));
  EXPECT_TRUE(same_shape_of_image(2000, 1500, 1000, 750));
  EXPECT_FALSE(same_shape_of_image(480, 640, 640, 480));
  EXPECT_FALSE(same_shape_of_image(640, 360, 640, 480));
  EXPECT_FALSE(same_shape_of_image(630, 480, 640, 480));
  EXPECT_TRUE(same_shape_of_image(40, 30, 640, 480));
  EXPECT_TRUE(same_shape_of_image(13, 11, 200, 167));
  EXPECT_FALSE(same_shape_of_image(1, 1, 200, 167));
  EXPECT_FALSE(same_shape_of_image(12, 10, 200, 167)) << "less than a sixteenth";
  EXPECT_FALSE(same_shape_of_image(200, 1, 200, 3));
}

}  // namespace
}  // namespace recon
