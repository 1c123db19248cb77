#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "error_message.hpp"
#include "io/ply.hpp"

namespace recon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

/// Two points: the first seen by views 0 and 2, the second by view 2.
const std::string kTwoPoints =
    "\2\0\0\0\0\0\0\0"
    "\2\0\0\0\0\0\0\0\2\0\0\0"
    "\1\0\0\0\2\0\0\0"s;

TEST(Visibility, ListsThePointsOfEachView) {
  const auto views = parse_visibility(kTwoPoints, "a.vis", 2, 3);
  EXPECT_THAT(views, ElementsAre(ElementsAre(0u), IsEmpty(), ElementsAre(0u, 1u)));
}

TEST(Visibility, RefusesWhatDoesNotBelongToTheCloud) {
  EXPECT_THAT(message_of<InputError>([] { parse_visibility(kTwoPoints, "a.vis", 3, 3); }),
              HasSubstr("the cloud has 3"));
  EXPECT_THAT(message_of<InputError>([] { parse_visibility(kTwoPoints, "a.vis", 2, 2); }),
              HasSubstr("a.vis: byte 16"));
}

TEST(Visibility, RefusesDamage) {
  for (std::size_t length = 0; length < kTwoPoints.size(); ++length)
    EXPECT_THROW(parse_visibility(kTwoPoints.substr(0, length), "a.vis", 2, 3), InputError) << length;
  EXPECT_THROW(parse_visibility(kTwoPoints + "x", "a.vis", 2, 3), InputError);
  EXPECT_THROW(parse_visibility("\0\0\0\0\0\0\0\x80"s, "a.vis", std::size_t{1} << 63, 3), InputError);
}

}  // namespace
}  // namespace recon
