#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_message.hpp"
#include "io/input_file.hpp"

namespace recon {
namespace {

using namespace std::string_view_literals;

const std::string kFile = "images.bin";
const FilePlace kPlace{kFile, FilePlace::Unit::kByte, 8};

TEST(SafeName, AcceptsNamesInsideTheFolder) {
  for (const auto name : {"a.png"sv, "sub/a b.jpg"sv, "..a/b..png"sv, "a..b"sv, ".hidden"sv,
                          "\xC3\xA4/\xC3\xB6.png"sv, "1:2.png"sv})
    EXPECT_NO_THROW(check_relative_name(name, kPlace)) << name;
}

TEST(SafeName, RefusesNamesThatLeadOutOrAreNone) {
  for (const auto name :
       {""sv, "/a.png"sv, "\\a.png"sv, "C:\\a.png"sv, "c:a.png"sv, "../a.png"sv, "a/../b.png"sv,
        "a\\..\\b.png"sv, ".."sv, "a/.."sv, "a/"sv, "."sv, "a/."sv, "a\0b.png"sv, "a\nb.png"sv, "a\x7F"sv})
    EXPECT_THAT(message_of<InputError>([&] { check_relative_name(name, kPlace); }),
                testing::StartsWith("images.bin: byte 8: the name"))
        << name;
}

TEST(SafeName, IsNormalisedWithoutLookingAtTheDisk) {
  EXPECT_EQ(normalised_name("a.png"), "a.png");
  EXPECT_EQ(normalised_name("./a.png"), "a.png");
  EXPECT_EQ(normalised_name("a//b/././c.png"), "a/b/c.png");
  EXPECT_EQ(normalised_name(".a/..b/c d.png"), ".a/..b/c d.png");
}

}  // namespace
}  // namespace recon
