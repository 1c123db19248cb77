// The hash by which the contents of files are compared.

#include "core/content_hash.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "io/temporary_folder.hpp"

namespace recon {
namespace {

TEST(ContentHash, IsPinnedAndSeesEveryByteAndTheLength) {
  // XXH3's published value of the empty input: records written on one machine are read on another.
  EXPECT_EQ(content_hash(""), "2d06800538d394c2");
  std::set<std::string> seen = {content_hash(std::string(20, '\0'))};
  for (std::size_t i = 0; i < 20; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes(20, '\0');
      bytes[i] = static_cast<char>(1 << bit);
      EXPECT_TRUE(seen.insert(content_hash(bytes)).second) << "byte " << i << ", bit " << bit;
    }
  for (std::size_t length = 0; length < 20; ++length)
    EXPECT_TRUE(seen.insert(content_hash(std::string(length, '\0'))).second) << length << " zeros";
}

TEST(ContentHash, SeesChangesOnBothSidesOfTheBeginning) {
  const std::size_t size = ContentHasher::kBeginning + 3;
  std::set<std::string> seen = {content_hash(std::string(size, 'a'))};
  for (const std::size_t i : {std::size_t{0}, size - 4, size - 3, size - 1}) {
    std::string bytes(size, 'a');
    bytes[i] = 'b';
    EXPECT_TRUE(seen.insert(content_hash(bytes)).second) << "byte " << i;
  }
  for (const std::size_t length : {size - 4, size - 3, size - 2, size + 1})
    EXPECT_TRUE(seen.insert(content_hash(std::string(length, 'a'))).second) << length << " bytes";
}

TEST(ContentHash, IsThatOfTheContentWithItsBeginningReplaced) {
  for (const std::size_t size : {std::size_t{8}, ContentHasher::kBeginning, std::size_t{100000}}) {
    ContentHasher hasher;
    hasher.add(std::string(3, 'a'));
    hasher.add(std::string(size - 3, 'b'));
    hasher.replace_beginning("header");
    EXPECT_EQ(hasher.identity().hash, content_hash("header" + std::string(size - 6, 'b'))) << size;
  }
}

TEST(ContentHash, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 3000000; ++i) bytes += static_cast<char>(i * 7 + i / 251);
  spill(folder / "file", bytes);
  const auto identity = identify_file(folder / "file");
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->size, bytes.size());
  EXPECT_EQ(identity->hash, content_hash(bytes));
  EXPECT_FALSE(identify_file(folder / "nothing"));
}

}  // namespace
}  // namespace recon
