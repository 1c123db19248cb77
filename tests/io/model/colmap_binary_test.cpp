#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/error_message.hpp"
#include "io/model/colmap_in_memory.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/scene_samples.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

/// Bytes assembled by hand according to COLMAP's documentation of its binary format, on a little-endian
/// machine.
class Bytes {
 public:
  template <class T>
  Bytes& add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  template <class T, class... More>
  Bytes& add_all(T value, More... more) {
    add(value);
    if constexpr (sizeof...(more) > 0) add_all(more...);
    return *this;
  }
  Bytes& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  operator std::string() const { return bytes_; }

 private:
  std::string bytes_;
};

using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

Bytes camera(U64 count = 1) {
  return Bytes().add_all(count, U32{5}, std::int32_t{0}, U64{640}, U64{480}, 500.0, 320.0, 240.0);
}

Bytes image_head(std::string_view name, U32 camera_id = 5, double w = 1.0) {
  return Bytes().add_all(U64{1}, U32{9}, w, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, camera_id).text(name).add('\0');
}

Bytes image(U64 observations = 2) {
  return image_head("b c.png").add_all(observations, 1.5, 2.5, U64{77}, 3.5, 4.5, kNoPoint);
}

Bytes point(U32 image_id = 9, U64 track_length = 1) {
  return Bytes().add_all(U64{1}, U64{77}, 1.0, 2.0, 3.0, U8{1}, U8{2}, U8{3}, 0.5, track_length, image_id,
                         U32{0});
}

Scene parse_binary(const std::string& cameras, const std::string& images, const std::string& points) {
  return parse_colmap_model(
      {{"cameras.bin", cameras}, {"images.bin", images}, ColmapFile{"points3D.bin", points}},
      ColmapFormat::kBinary);
}

TEST(ColmapBinary, ReadsTheFurtherModelsOfColmap4) {
  const std::pair<std::int32_t, int> models[] = {{11, 16}, {12, 4}, {13, 5}, {14, 3}, {15, 4}, {16, 6}};
  for (const auto& [id, parameters] : models) {
    Bytes bytes = Bytes().add_all(U64{1}, U32{5}, id, U64{640}, U64{480});
    for (int i = 0; i < parameters; ++i) bytes.add(i + 1.0);
    const Scene scene = parse_binary(bytes, image(), point());
    EXPECT_EQ(static_cast<int>(scene.cameras[0].model), id);
    EXPECT_EQ(scene.cameras[0].params.back(), parameters);
  }
  const Bytes panorama = Bytes().add_all(U64{1}, U32{5}, std::int32_t{17}, U64{640}, U64{480}, 640.0, 480.0);
  EXPECT_EQ(parse_binary(panorama, image(), point()).cameras[0].params, (std::vector<double>{640, 480}));
}

TEST(ColmapBinary, ReadsBytesPutTogetherByHand) {
  const Scene scene = parse_binary(camera(), image(), point());
  ASSERT_EQ(scene.cameras.size(), 1u);
  EXPECT_EQ(scene.camera_ids[0], 5u);
  EXPECT_EQ(scene.cameras[0].height, 480);
  EXPECT_EQ(scene.cameras[0].params, (std::vector<double>{500, 320, 240}));
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].id, 9u);
  EXPECT_EQ(scene.views[0].name, "b c.png");
  EXPECT_EQ(scene.views[0].cam_from_world.translation.z, 3);
  EXPECT_EQ(scene.views[0].observations[1].pixel.y, 4.5);
  ASSERT_EQ(scene.points.size(), 1u);
  EXPECT_EQ(scene.points[0].position.y, 2);
  EXPECT_EQ(scene.points[0].colour, (Rgb8{1, 2, 3}));
  EXPECT_EQ(scene.points[0].track.size(), 1u);
}

TEST(ColmapBinary, WritesTheSameBytes) {
  const ColmapFiles files =
      format_colmap_model(parse_binary(camera(), image(), point()), ColmapFormat::kBinary);
  EXPECT_EQ(files.cameras.bytes, std::string(camera()));
  EXPECT_EQ(files.images.bytes, std::string(image()));
  EXPECT_EQ(files.points->bytes, std::string(point()));
}

TEST(ColmapBinary, RefusesEveryTruncation) {
  const ColmapFiles whole = format_colmap_model(scene_of_all_models(), ColmapFormat::kBinary);
  for (int part = 0; part < 3; ++part) {
    const std::string& bytes = part == 0   ? whole.cameras.bytes
                               : part == 1 ? whole.images.bytes
                                           : whole.points->bytes;
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      ColmapFiles cut = whole;
      (part == 0 ? cut.cameras.bytes : part == 1 ? cut.images.bytes : cut.points->bytes).resize(length);
      const std::string message =
          message_of<InputError>([&] { parse_colmap_model(cut, ColmapFormat::kBinary); });
      ASSERT_THAT(message, HasSubstr("truncated")) << "part " << part << ", " << length << " bytes";
    }
  }
}

TEST(ColmapBinary, RefusesFaultsWithByteAndReason) {
  struct Fault {
    std::string cameras, images, points, place, message;
  };
  const U64 absurd = U64{1} << 62;
  const std::vector<Fault> faults = {
      {camera(absurd), image(), point(), "cameras.bin: byte 0: ", "4611686018427387904 cameras"},
      {Bytes().add_all(U64{1}, U32{5}, 18, U64{640}, U64{480}, 500.0, 320.0, 240.0), "", "",
       "cameras.bin: byte 8: ", "model 18"},
      {Bytes().add_all(U64{1}, U32{5}, 0, absurd, U64{480}, 500.0, 320.0, 240.0), "", "",
       "cameras.bin: byte 16: ", "width"},
      {Bytes().add_all(U64{1}, U32{5}, 0, U64{0}, U64{480}, 500.0, 320.0, 240.0), "", "",
       "cameras.bin: byte 8: ", "0x480"},
      {camera().add('x'), image(), point(), "cameras.bin: byte 56: ", "1 bytes follow"},
      {camera(), image(absurd), point(), "images.bin: byte 80: ", "observations"},
      {camera(), image_head("a.png", 6).add(U64{0}), "", "images.bin: byte 8: ", "camera 6"},
      {camera(), image_head("../a.png").add(U64{0}), "", "images.bin: byte 8: ", "\"..\""},
      {camera(), image_head("").add(U64{0}), "", "images.bin: byte 8: ", "empty"},
      {camera(), image_head("a\nb.png").add(U64{0}), "", "images.bin: byte 8: ", "control"},
      {camera(), image_head("C:\\a.png").add(U64{0}), "", "images.bin: byte 8: ", "absolute"},
      {camera(), image().add('x'), point(), "images.bin: byte 136: ", "1 bytes follow"},
      {camera(), image(), point(9, absurd), "points3D.bin: byte 51: ", "track elements"},
      {camera(), image(), point().add('x'), "points3D.bin: byte 67: ", "1 bytes follow"},
  };
  for (const Fault& fault : faults) {
    const std::string message =
        message_of<InputError>([&] { parse_binary(fault.cameras, fault.images, fault.points); });
    EXPECT_THAT(message, testing::StartsWith(fault.place));
    EXPECT_THAT(message, HasSubstr(fault.message));
  }
}

TEST(ColmapBinary, LeavesOutWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double w : {0.0, nan, HUGE_VAL}) {
    const Scene scene = parse_binary(camera(), image_head("a.png", 5, w).add(U64{0}), point());
    EXPECT_TRUE(scene.views.empty());
    ASSERT_EQ(scene.unusable.size(), 1u);
    EXPECT_THAT(scene.unusable[0].reason, testing::AllOf(testing::StartsWith("images.bin: byte 8: image 9"),
                                                         HasSubstr("no quaternion")));
    EXPECT_THAT(scene.points, testing::SizeIs(1));
  }
  const Scene scene = parse_binary(
      camera(), image(),
      Bytes().add_all(U64{1}, U64{77}, 1.0, nan, 3.0, U8{1}, U8{2}, U8{3}, 0.5, U64{1}, U32{9}, U32{0}));
  EXPECT_TRUE(scene.points.empty());
  EXPECT_EQ(scene.views[0].observations[0].point_id, kNoPoint);
  EXPECT_THAT(scene.warnings,
              testing::ElementsAre(testing::StartsWith("points3D.bin: byte 8: point 77 is at 1 nan 3")));
}

TEST(ColmapBinary, LeavesOutTheViewsOfACameraWithAParameterThatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Bytes cameras =
      Bytes().add_all(U64{2}, U32{5}, std::int32_t{0}, U64{640}, U64{480}, nan, 320.0, 240.0, U32{6},
                      std::int32_t{0}, U64{640}, U64{480}, 500.0, 320.0, 240.0);
  const Bytes images = Bytes()
                           .add_all(U64{2}, U32{9}, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, U32{5})
                           .text("a.png")
                           .add_all('\0', U64{0}, U32{10}, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, U32{6})
                           .text("b.png")
                           .add_all('\0', U64{0});
  const Scene scene = parse_binary(cameras, images, Bytes().add(U64{0}));
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].name, "b.png");
  EXPECT_EQ(scene.cameras[scene.views[0].camera].params[0], 500);
  ASSERT_EQ(scene.unusable.size(), 1u);
  EXPECT_EQ(scene.unusable[0].name, "a.png");
  EXPECT_EQ(scene.unusable[0].reason,
            "cameras.bin: byte 8: camera 5 has the parameter nan; it has to be a finite number");
}

// Names with their length before them are those of a converter for VGGT; the others have a field more.
TEST(ColmapBinary, SaysThatAFileHasOtherFields) {
  const auto refusal = [](const std::string& cameras, const std::string& images, const std::string& points) {
    return message_of<InputError>([&] { parse_binary(cameras, images, points); });
  };
  const auto head = [] { return Bytes().add_all(U64{1}, U32{9}, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, U32{5}); };
  const Bytes two_cameras =
      Bytes().add_all(U64{2}, U32{5}, std::int32_t{0}, U64{640}, U64{480}, 500.0, 320.0, 240.0, U8{1}, U32{6},
                      std::int32_t{0}, U64{640}, U64{480}, 500.0, 320.0, 240.0, U8{1});
  const Bytes frame_id = Bytes().add_all(U64{1}, U32{9}, U32{3}, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, U32{5});
  const Bytes scored = image_head("a.png").add_all(U64{2}, 1.5, 2.5, U64{77}, 0.7f, 3.5, 4.5, kNoPoint, 0.6f);
  const Bytes wide_point =
      Bytes().add_all(U64{1}, U64{77}, 1.0, 2.0, 3.0, 0.1f, 0.2f, 0.3f, 0.5, U64{1}, U32{9}, U32{0});
  const Bytes short_count = Bytes().add_all(U32{1}, U32{9}, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, U32{5});
  const std::string others[] = {
      refusal(two_cameras, "", ""),
      refusal(camera(), head().add(U32{5}).text("a.png").add(U64{0}), ""),
      refusal(camera(), head().add(U32{40}).text("a_name_of_forty_characters_as_it_is.jpeg").add(U64{0}), ""),
      refusal(camera(), Bytes(frame_id).text("a.png").add('\0').add(U64{0}), ""),
      refusal(camera(), Bytes(short_count).text("a.png").add('\0').add(U64{0}), ""),
      refusal(camera(), scored, ""),
      refusal(camera(), image(), wide_point),
  };
  for (const std::string& message : others) {
    EXPECT_THAT(message, HasSubstr("has other fields"));
    EXPECT_THAT(message, HasSubstr(".bin: byte "));
    EXPECT_THAT(message, testing::Not(HasSubstr("truncated")));
  }
}

}  // namespace
}  // namespace recon
