#include <gtest/gtest.h>

#include "core/printable.hpp"

namespace recon {
namespace {

const std::vector<TableColumn> kColumns = {{"scene", true}, {"views"}, {"points"}, {"status", true}};

TEST(TextTable, HasColumnsOfTheirLongestCells) {
  EXPECT_EQ(
      text_table(kColumns,
                 {{"a", "5", "1234567", "done"}, {"b\u00e9\u00e9\u00e9\u00e9\u00e9", "-", "-", "failed (3)"}},
                 {}),
      "scene   views   points  status\n"
      "a           5  1234567  done\n"
      "b\u00e9\u00e9\u00e9\u00e9\u00e9      -        -  failed (3)\n");
}

TEST(TextTable, OfATerminalThatIsWideEnoughIsTheSame) {
  const std::vector<std::vector<std::string>> rows = {{"a/long/name", "5", "1234567", "done"}};
  const std::string any = text_table(kColumns, rows, {});
  EXPECT_EQ(any,
            "scene        views   points  status\n"
            "a/long/name      5  1234567  done\n");
  EXPECT_EQ(text_table(kColumns, rows, 35), any);
}

TEST(TextTable, GivesNamesThatAreTooLongALineOfTheirOwn) {
  EXPECT_EQ(text_table(kColumns, {{"a/long/name", "5", "1234567", "done"}, {"b", "6", "1", "done"}}, 34),
            "scene       views   points  status\n"
            "a/long/name\n"
            "                5  1234567  done\n"
            "b               6        1  done\n");
}

TEST(TextTable, HasFurtherTablesForColumnsThatDoNotFit) {
  EXPECT_EQ(text_table(kColumns,
                       {{"a", "5", "1234567", "done"}, {"b", "6", "", "failed (3)"}, {"c", "7", "", ""}}, 25),
            "scene  views   points\n"
            "a          5  1234567\n"
            "b          6\n"
            "c          7\n"
            "\n"
            "scene  status\n"
            "a      done\n"
            "b      failed (3)\n");
}

/// A terminal that is narrower than a column has all of it.
TEST(TextTable, LosesNothingAtAnyWidth) {
  for (std::size_t width = 0; width < 40; ++width) {
    const std::string table = text_table(kColumns, {{"a/long/name", "5", "1234567", "failed (3)"}}, width);
    for (const char* cell :
         {"scene", "a/long/name", "views", "5", "points", "1234567", "status", "failed (3)"})
      EXPECT_NE(table.find(cell), std::string::npos) << width << "\n" << table;
  }
  EXPECT_EQ(text_table({{"scene", true}}, {{"a"}}, 3), "scene\na\n");
}

}  // namespace
}  // namespace recon
