// The check across views on a GPU against the processor: equal counts.

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <future>
#include <limits>
#include <random>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "fuse/agreement.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace {

constexpr int kViews = 6;
const ConsistencyOptions kOptions{0.01f, 20.0f, 1, 1.0f, true};

/// Views of a plane by cameras side by side, of different sizes, with noise, steps and unknown pixels.
class NoisyViews {
 public:
  /// @param first_id  of the maps
  NoisyViews(int width, int height, std::uint64_t first_id, unsigned seed = 7) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int i = 0; i < kViews; ++i) {
      const int columns = width + 3 * i, rows = height + i % 2;
      const Pinhole camera{columns, rows, 0.9 * width, 0.91 * width, 0.5 * columns + 0.3, 0.5 * rows - 0.2};
      Pose pose;
      const double angle = 0.02 * i;
      pose.rotation = {{std::cos(angle), 0, std::sin(angle), 0, 1, 0, -std::sin(angle), 0, std::cos(angle)}};
      pose.translation = {-0.1 * i, 0.03 * i, 0.01 * i};
      Maps& maps = maps_.emplace_back(Maps{Image<float>(columns, rows), Image<Vec3f>(columns, rows)});
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
          const bool unknown = uniform(random) > 0.8f, step = uniform(random) > 0.7f;
          const float depth = 2 * (1 + (step ? 0.2f : 0.015f) * uniform(random));
          maps.depth(x, y) = unknown ? std::numeric_limits<float>::quiet_NaN() : depth;
          const float tilt = 0.6f * uniform(random), nan = std::numeric_limits<float>::quiet_NaN();
          maps.normal(x, y) =
              uniform(random) > 0.8f ? Vec3f{nan, nan, nan} : Vec3f{std::sin(tilt), 0, -std::cos(tilt)};
        }
      const auto load = [this, index = static_cast<std::size_t>(i)] {
        ++loads_;
        return DepthSource::Maps{maps_[index].depth.view(), maps_[index].normal.view(), nullptr};
      };
      views_.push_back(
          {camera, pose, first_id + static_cast<std::uint64_t>(i), load, 2.0f * static_cast<float>(i)});
    }
  }

  /// What the others say of view `i`.
  Image<Agreement> counts(Backend& backend, int i) const {
    std::vector<DepthSource> sources = views_;
    sources.erase(sources.begin() + i);
    return backend.count_agreement(views_[static_cast<std::size_t>(i)], sources, kOptions);
  }

  /// The normals that follow from the depths of view `i`.
  Image<Vec3f> normals(Backend& backend, int i) const {
    const auto index = static_cast<std::size_t>(i);
    return backend.normals(maps_[index].depth.view(), views_[index].camera, views_[index].id);
  }
  Image<Vec3f> checked_normals(Backend& backend, int i) const {
    const auto index = static_cast<std::size_t>(i);
    return backend.checked_normals(maps_[index].depth.view(), views_[index].camera);
  }

  /// Replaces the normals of all views by those that follow from their depths.
  void compute_normals(Backend& backend) {
    for (int i = 0; i < kViews; ++i) maps_[static_cast<std::size_t>(i)].normal = normals(backend, i);
  }

  int loads() const { return loads_; }

 private:
  struct Maps {
    Image<float> depth;
    Image<Vec3f> normal;
  };
  std::vector<Maps> maps_;
  std::vector<DepthSource> views_;
  std::atomic<int> loads_ = 0;
};

void expect_equal(const Image<Agreement>& found, const Image<Agreement>& expected) {
  ASSERT_EQ(found.width(), expected.width());
  ASSERT_EQ(found.height(), expected.height());
  int agreeing = 0, close = 0, through = 0;
  for (int y = 0; y < found.height(); ++y)
    for (int x = 0; x < found.width(); ++x) {
      const Agreement &a = found(x, y), &b = expected(x, y);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << x << " " << y;
      agreeing += b.placed, close += b.close, through += b.through;
    }
  const int pixels = found.width() * found.height();
  EXPECT_GT(agreeing, pixels / 4);
  EXPECT_GT(through, pixels / 20);
  EXPECT_GT(close, pixels / 20);
}

class CudaAgreement : public test::GpuTest<> {
 protected:
  const std::unique_ptr<Backend> cpu_ = make_cpu_backend({.threads = 2, .memory_limit = {}});
};

TEST_F(CudaAgreement, EqualsThatOfTheCpuAndKeepsTheMaps) {
  const auto gpu = make_cuda_backend({});
  const NoisyViews views(301, 187, 1);
  for (int i = 0; i < kViews; ++i) expect_equal(views.counts(*gpu, i), views.counts(*cpu_, i));
  EXPECT_EQ(views.loads(), kViews + kViews * kViews) << "a GPU loads each view once, the CPU each time";
  const NoisyViews others(129, 64, 100);
  expect_equal(others.counts(*gpu, 0), others.counts(*cpu_, 0));
}

/// @returns how many normals are known
int expect_equal(const Image<Vec3f>& found, const Image<Vec3f>& expected) {
  int known = 0;
  for (int y = 0; y < expected.height(); ++y)
    for (int x = 0; x < expected.width(); ++x) {
      const Vec3f a = found(x, y), b = expected(x, y);
      EXPECT_EQ(std::isnan(a.x), std::isnan(b.x)) << x << " " << y;
      if (std::isnan(b.x)) continue;
      ++known;
      EXPECT_TRUE(a.x == b.x && a.y == b.y && a.z == b.z) << x << " " << y;
    }
  return known;
}

TEST_F(CudaAgreement, TakesTheMapsWhoseNormalsTheGpuHasComputed) {
  const auto gpu = make_cuda_backend({});
  NoisyViews views(301, 187, 400);
  for (int i = 0; i < kViews; ++i) {
    const Image<Vec3f> expected = views.normals(*cpu_, i);
    const int known = expect_equal(views.normals(*gpu, i), expected);
    EXPECT_GT(known, expected.width() * expected.height() / 4);
    EXPECT_LT(known, expected.width() * expected.height());
  }
  views.compute_normals(*cpu_);
  for (int i = 0; i < kViews; ++i) expect_equal(views.counts(*gpu, i), views.counts(*cpu_, i));
  EXPECT_EQ(views.loads(), kViews * kViews) << "only the CPU loads maps";
}

TEST_F(CudaAgreement, ComputesNormalsOfCheckedMaps) {
  const auto gpu = make_cuda_backend({});
  const NoisyViews views(301, 187, 600), others(301, 187, 600, 8), smaller(97, 205, 600);
  for (const NoisyViews* scene : {&views, &others, &smaller, &views})
    for (int i = 0; i < kViews; ++i)
      EXPECT_GT(expect_equal(scene->checked_normals(*gpu, i), scene->checked_normals(*cpu_, i)), 1000);
}

TEST_F(CudaAgreement, ComputesNormalsThatDoNotFitOnTheCpu) {
  CudaOptions options;
  options.memory_limit = std::size_t{330} * 200;
  const auto gpu = make_cuda_backend(options);
  const NoisyViews views(301, 187, 500);
  EXPECT_GT(expect_equal(views.normals(*gpu, 1), views.normals(*cpu_, 1)), 10000);
  EXPECT_GT(expect_equal(views.checked_normals(*gpu, 1), views.checked_normals(*cpu_, 1)), 10000);
}

TEST_F(CudaAgreement, OfViewsThatDoNotFitIsThatOfTheCpu) {
  CudaOptions options;
  // Room for four of six views.
  options.memory_limit = std::size_t{4} * 330 * 200 * 20;
  const auto gpu = make_cuda_backend(options);
  const NoisyViews views(301, 187, 200);
  expect_equal(views.counts(*gpu, 2), views.counts(*cpu_, 2));
}

TEST_F(CudaAgreement, OfSeveralThreadsIsThatOfOne) {
  const auto gpu = make_cuda_backend({});
  const NoisyViews views(301, 187, 300);
  std::vector<std::future<Image<Agreement>>> found;
  for (int i = 0; i < kViews; ++i)
    found.push_back(std::async(std::launch::async, [&, i] { return views.counts(*gpu, i); }));
  for (int i = 0; i < kViews; ++i)
    expect_equal(found[static_cast<std::size_t>(i)].get(), views.counts(*cpu_, i));
}

}  // namespace
}  // namespace recon
