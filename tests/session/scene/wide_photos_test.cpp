// Photos that become several views.

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "io/image/image_file.hpp"
#include "scene/faces.hpp"
#include "session/folder_fixture.hpp"
#include "session/scene/plan_time.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {
namespace {

class WidePhotos : public Folder {};

/// How often a file is opened from now on.
class OpenedFile {
 public:
  explicit OpenedFile(const std::filesystem::path& file) : fd_(::inotify_init1(IN_NONBLOCK)) {
    // Equal events that follow each other would be one.
    EXPECT_GE(::inotify_add_watch(fd_, file.c_str(), IN_OPEN | IN_CLOSE), 0);
  }
  ~OpenedFile() { ::close(fd_); }
  OpenedFile(const OpenedFile&) = delete;

  int count() const {
    alignas(inotify_event) std::array<char, 4096> events{};
    int count = 0;
    for (ssize_t size; (size = ::read(fd_, events.data(), events.size())) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto& event = *reinterpret_cast<const inotify_event*>(events.data() + at);
        count += (event.mask & IN_OPEN) != 0 ? 1 : 0;
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    return count;
  }

 private:
  int fd_;
};

TEST_F(WidePhotos, AreReadOnceForAllTheirViews) {
  SessionOptions options;
  options.quiet = true;
  SceneJob job(options, SceneFolder{folder_, folder_ / "images", folder_ / "sparse"},
               Workspace(folder_ / "dense"), {std::size_t{1} << 30, 2});
  job.input.scene.camera_ids = {1};
  job.input.scene.cameras = {{CameraModel::kEquirectangular, 128, 64, {128, 64}}};
  for (int i = 0; i < 3; ++i) {
    View view;
    view.id = static_cast<std::uint32_t>(i + 1);
    view.name = "v" + std::to_string(i) + ".png";
    view.cam_from_world.translation = {0.3 * i, 0, 0};
    job.input.scene.views.push_back(view);
    write_image(folder_ / "images" / view.name, Image<std::uint8_t>(128, 64, 7).view());
  }
  job.input.scene = with_faces(std::move(job.input.scene));
  job.replan({});
  ASSERT_EQ(job.plan.needed_views().size(), 18u);
  const OpenedFile photo(folder_ / "images/v1.png");
  const auto face = std::ranges::find(job.plan.scene.views, std::string("v1.png"), &View::photo_name);
  job.products.photos.read(job.plan, static_cast<int>(face - job.plan.scene.views.begin()));
  const int once = photo.count();
  job.prepare(true);
  EXPECT_EQ(photo.count(), once);
  for (const int view : job.plan.needed_views())
    EXPECT_NE(job.products.result(Step::kPrepare, view), nullptr);
}

TEST_F(WidePhotos, AreReducedByTheSizeOfTheirFaces) {
  Scene scene;
  scene.cameras = {{CameraModel::kEquirectangular, 12000, 6000, {12000, 6000}}};
  EXPECT_EQ(normal_photo_side(scene), 1600);
  View view;
  view.name = "v.png";
  scene.views.push_back(view);
  scene = with_faces(std::move(scene));
  const int side = normal_photo_side(scene);
  const Camera& face = scene.cameras[scene.views.front().camera];
  EXPECT_NEAR(side / 12000.0 * std::max(face.width, face.height), 1600, 1);
  EXPECT_GT(side, 3200) << "of which a face would have a part";
}

}  // namespace
}  // namespace recon
