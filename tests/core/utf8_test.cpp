#include <gtest/gtest.h>

#include "core/printable.hpp"

namespace recon {
namespace {

// The table of well-formed byte sequences of the Unicode standard (chapter 3, table 3-7), at its borders.
TEST(Utf8, IsWhatUnicodeCallsWellFormed) {
  for (const char* text : {"", "abc", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "caf\xC3\xA9.jpg"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\x80", "\xC1\xBF", "\xC3", "\xC3.", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "caf\xE9.jpg"})
    EXPECT_FALSE(is_utf8(text)) << text;
  EXPECT_EQ(utf8_prefix("caf\xE9.jpg"), 3u);
}

TEST(Utf8, EscapesShowTheOtherBytes) {
  EXPECT_EQ(with_escapes("caf\xE9.jpg"), "caf\\xE9.jpg");
  EXPECT_EQ(with_escapes("caf\xC3\xA9.jpg"), "caf\xC3\xA9.jpg");
  EXPECT_EQ(with_escapes("\xE2\x82"), "\\xE2\\x82");
}

// é in Latin-1, in UTF-8 as one character, and as a letter and an accent (as macOS writes names).
TEST(Utf8, ASkeletonIsTheSameInEveryEncoding) {
  for (const char* name : {"caf\xE9_1.jpg", "caf\xC3\xA9_1.jpg", "cafe\xCC\x81_1.jpg"})
    EXPECT_EQ(ascii_skeleton(name), "caf_1.jpg") << name;
  EXPECT_NE(ascii_skeleton("caf\xC3\xA9_2.jpg"), "caf_1.jpg");
}

}  // namespace
}  // namespace recon
