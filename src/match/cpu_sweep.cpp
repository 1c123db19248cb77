#include "match/cpu_sweep.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu_sweep.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "core/parallel.hpp"
#include "match/posed_image.hpp"
#include "match/seen_part.hpp"
#include "match/sweep_rows-inl.hpp"
#include "match/sweep_scratch.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

/// Fills the columns of a row outside the image with its border pixels.
HWY_INLINE void replicate_border(std::uint8_t* row, int count, int first_inside, int inside_count) {
  for (int i = 0; i < first_inside; ++i) row[i] = row[first_inside];
  const int last = first_inside + inside_count - 1;
  for (int i = last + 1; i < count; ++i) row[i] = row[last];
}

/// Sweeps a tile plane by plane, row by row, source by source. Rows are counted from the top of the first
/// window: row t of the tile is row tile.y - R + t of the image, clamped to it.
template <int R>
class TileSweep {
 public:
  TileSweep(const CpuSweep& sweep, const Tile& tile, VolumeView<Half> volume)
      : sweep_(sweep),
        tile_(tile),
        volume_(volume),
        frame_(sweep.reference, tile, R),
        reference_(sweep.reference, frame_, correlates(sweep.cost.kind)),
        combination_(sweep.cost, tile.width),
        parts_(sweep.sources.size()) {
    for (const CpuSweep::Source& source : sweep.sources)
      for (std::size_t c = 0; c < source.channels.size(); ++c) windows_.emplace_back(frame_, sweep.cost.kind);
    sums_.resize(frame_.stride);
    cost_.resize(frame_.stride);
  }

  void run() {
    for (int d = 0; d < sweep_.planes.count; ++d) {
      const float w = inverse_depth(sweep_.planes, static_cast<float>(d));
      for (std::size_t s = 0; s < parts_.size(); ++s) parts_[s] = part_of(sweep_.sources[s], w);
      for (int y = 0; y < tile_.height; ++y) {
        combination_.clear();
        for (std::size_t s = 0; s < parts_.size(); ++s) {
          if (y < parts_[s].top || y >= parts_[s].bottom) continue;
          if (y == parts_[s].top) begin(s, w);
          enter_row(s, w, y + 2 * R);
          offer(s, y);
        }
        store(y, d);
      }
    }
  }

 private:
  static constexpr int kWindow = 2 * R + 1;

  /// The part of the tile that a source sees on a plane: whole vectors of pixels, rows top .. bottom - 1.
  struct SeenPart {
    int left, width, top, bottom;
  };

  SeenPart part_of(const CpuSweep::Source& source, float w) const {
    const Tile seen =
        seen_part(source.warp, w, tile_, source.channels[0].width(), source.channels[0].height());
    const int lanes = static_cast<int>(hn::Lanes(F32()));
    const int left = (seen.x - tile_.x) / lanes * lanes, top = seen.y - tile_.y;
    const int right = (seen.x - tile_.x + seen.width + lanes - 1) / lanes * lanes;
    return {left, std::min(right, tile_.width) - left, top, top + seen.height};
  }

  /// Enters the rows above the first one that ends a window.
  void begin(std::size_t s, float w) {
    const std::size_t channels = sweep_.sources[s].channels.size();
    for (std::size_t c = 0; c < channels; ++c) windows_[s * channels + c].clear();
    for (int t = 0; t < 2 * R; ++t) enter_row(s, w, parts_[s].top + t);
  }

  /// Warps row t of the source and adds it to the sliding windows.
  void enter_row(std::size_t s, float w, int t) {
    const CpuSweep::Source& source = sweep_.sources[s];
    const SeenPart& part = parts_[s];
    const int first = part.left, count = part.width + 2 * R;
    const int leaving = t - kWindow < part.top ? -1 : t - kWindow;
    // The columns of these inside the image.
    const int inside = std::max(first, frame_.first_inside);
    const int inside_count = std::min(first + count, frame_.first_inside + frame_.image_width) - inside;
    const RowWarp warp = row_warp(source.warp, w, frame_.image_row(t));
    const int channels = static_cast<int>(source.channels.size());
    for (int c = 0; c < channels; ++c) {
      SourceWindow& window = windows_[s * channels + c];
      std::uint8_t* pixels = correlates(sweep_.cost.kind) ? window.row(t) : window.scratch();
      warp_any_row(warp, source.channels[c], frame_.image_x + inside - frame_.first_inside, inside_count,
                   pixels + inside, window.seen(t) + inside);
      replicate_border(pixels + first, count, inside - first, inside_count);
      if (correlates(sweep_.cost.kind)) {
        update_zncc_columns(reference_.row(0, t) + first, pixels + first, reference_.row(0, leaving) + first,
                            window.row(leaving) + first, count,
                            {window.sum(0) + first, window.sum(1) + first, window.sum(2) + first});
      } else {
        update_sad_columns(reference_.row(c, t) + first, pixels + first, window.row(leaving) + first, count,
                           window.row(t) + first, window.narrow_sum() + first);
      }
    }
  }

  /// Computes the costs of source s in row y of the tile and adds them to the combination.
  void offer(std::size_t s, int y) {
    const std::size_t channels = sweep_.sources[s].channels.size();
    const int x = parts_[s].left, count = parts_[s].width;
    SourceWindow& window = windows_[s * channels];
    const std::uint8_t* seen = window.seen(y + R) + R + x;
    if (correlates(sweep_.cost.kind)) {
      zncc_costs<R>({window.sum(0) + x, window.sum(1) + x, window.sum(2) + x}, reference_.sum(y) + x,
                    reference_.variance(y) + x, seen, count, cost_.data());
    } else {
      for (std::size_t c = 0; c < channels; ++c)
        sad_sums<R>(windows_[s * channels + c].narrow_sum() + x, count, c == 0, sums_.data());
      const float inverse_count = 1.0f / static_cast<float>(kWindow * kWindow * static_cast<int>(channels));
      sad_costs(sums_.data(), seen, count, inverse_count, cost_.data());
    }
    if (sweep_.cost.combination == Combination::kMean)
      offer_mean(cost_.data(), count, combination_.row(0) + x, combination_.row(1) + x);
    else
      offer_best(cost_.data(), count, combination_.row(0) + x, combination_.rows(), combination_.stride());
  }

  void store(int y, int d) {
    std::uint16_t* out = &volume_.row(y, d)->bits;
    if (sweep_.cost.combination == Combination::kMean)
      store_mean(combination_.row(0), combination_.row(1), tile_.width, out);
    else
      store_best(combination_.row(0), combination_.rows(), combination_.stride(), tile_.width, out);
  }

  const CpuSweep& sweep_;
  Tile tile_;
  VolumeView<Half> volume_;
  TileFrame frame_;
  ReferenceRows reference_;
  CombinationRows combination_;
  std::vector<SeenPart> parts_;  ///< of each source, on the plane at hand
  std::vector<SourceWindow> windows_;
  AlignedRow<std::uint32_t> sums_;
  AlignedRow<float> cost_;
};

void sweep_tile_on_target(const CpuSweep& sweep, const Tile& tile, VolumeView<Half> volume) {
  switch (sweep.cost.window) {
    case 3:
      return TileSweep<1>(sweep, tile, volume).run();
    case 5:
      return TileSweep<2>(sweep, tile, volume).run();
    case 7:
      return TileSweep<3>(sweep, tile, volume).run();
    case 9:
      return TileSweep<4>(sweep, tile, volume).run();
    case 11:
      return TileSweep<5>(sweep, tile, volume).run();
    case 13:
      return TileSweep<6>(sweep, tile, volume).run();
    default:
      return TileSweep<7>(sweep, tile, volume).run();
  }
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(sweep_tile_on_target);
HWY_EXPORT(target_name);

namespace {

constexpr int kTileColumns = 128;
constexpr int kTileHeight = 64;
constexpr int kMinTileHeight = 8;
constexpr std::size_t kTileBytes = std::size_t{8} << 20;

}  // namespace

SampledImage::SampledImage(ImageView<const std::uint8_t> image) {
  AlignedBuffer<std::uint16_t> memory(bytes(image.width, image.height) / sizeof(std::uint16_t));
  *this = SampledImage(image, memory.data());
  own_.swap(memory);
}

SampledImage::SampledImage(ImageView<const std::uint8_t> image, std::uint16_t* memory)
    : width_(image.width),
      height_(image.height),
      pitch_(padded_count<std::uint16_t>(image.width + 1)),
      data_(memory) {
  EXPECTS(!image.empty());
  parallel_for(
      height_,
      [&](int y) {
        const std::uint8_t* upper = image.row(y);
        const std::uint8_t* lower = image.row(std::min(y + 1, height_ - 1));
        std::uint16_t* out = memory + y * pitch_;
        for (int x = 0; x < width_; ++x) out[x] = static_cast<std::uint16_t>(upper[x] | lower[x] << 8);
        out[width_] = out[width_ - 1];
      },
      64);
}

void change_reference(CpuSweep& sweep, const PosedImage& reference, const std::vector<PosedImage>& sources) {
  EXPECTS(sources.size() == sweep.sources.size());
  sweep.reference = reference;
  for (std::size_t s = 0; s < sources.size(); ++s)
    sweep.sources[s].warp = make_source_warp(reference.camera, reference.cam_from_world, sources[s].camera,
                                             sources[s].cam_from_world);
}

CpuSweep prepare_cpu_sweep(const PosedImage& reference, const std::vector<PosedImage>& sources,
                           const PlaneSet& planes, const CostOptions& options) {
  EXPECTS(options.window >= kMinWindow && options.window <= kMaxWindow && options.window % 2 == 1);
  EXPECTS(is_swept(options.kind) && options.best_k >= 1 && options.best_k <= kMaxBestK);
  EXPECTS(!sources.empty() && sources.size() <= static_cast<std::size_t>(kMaxSources));
  EXPECTS(reference.channels == 1 || (reference.channels == 3 && !correlates(options.kind)));
  EXPECTS(reference.camera.width <= kMaxImageSide && reference.camera.height <= kMaxImageSide);
  CpuSweep sweep{reference, {}, planes, options};
  for (const PosedImage& source : sources) {
    EXPECTS(source.channels == reference.channels);
    EXPECTS(source.camera.width <= kMaxImageSide && source.camera.height <= kMaxImageSide);
    CpuSweep::Source prepared{
        make_source_warp(reference.camera, reference.cam_from_world, source.camera, source.cam_from_world),
        {}};
    for (int c = 0; c < source.channels; ++c) prepared.channels.emplace_back(source.channel[c]);
    sweep.sources.push_back(std::move(prepared));
  }
  return sweep;
}

void sweep_tile(const CpuSweep& sweep, const Tile& tile, VolumeView<Half> volume) {
  EXPECTS(tile.x >= 0 && tile.y >= 0 && tile.x + tile.width <= sweep.reference.camera.width &&
          tile.y + tile.height <= sweep.reference.camera.height && tile.width > 0 && tile.height > 0);
  EXPECTS(volume.width == tile.width && volume.height == tile.height && volume.planes == sweep.planes.count);
  HWY_DYNAMIC_DISPATCH(sweep_tile_on_target)(sweep, tile, volume);
}

TileSize sweep_tile_size(int width, int height, int planes, int window) {
  TileSize tile{std::min(width, kTileColumns - window + 1), std::min(height, kTileHeight), 0};
  tile.volume_bytes = Volume<Half>::bytes(tile.width, planes, tile.height);
  while (tile.volume_bytes > kTileBytes && tile.height > kMinTileHeight) {
    tile.height = std::max(kMinTileHeight, tile.height / 2);
    tile.volume_bytes = Volume<Half>::bytes(tile.width, planes, tile.height);
  }
  return tile;
}

void sweep_by_tiles(const CpuSweep& sweep, const TileSink& sink) {
  const int width = sweep.reference.camera.width, height = sweep.reference.camera.height;
  const TileSize size = sweep_tile_size(width, height, sweep.planes.count, sweep.cost.window);
  const int columns = (width + size.width - 1) / size.width;
  const int rows = (height + size.height - 1) / size.height;
  parallel_for(columns * rows, [&](int i) {
    const int x = i % columns * size.width, y = i / columns * size.height;
    const Tile tile{x, y, std::min(size.width, width - x), std::min(size.height, height - y)};
    Volume<Half> volume(tile.width, sweep.planes.count, tile.height);
    sweep_tile(sweep, tile, volume.view());
    sink(tile, volume.view());
  });
}

const char* sweep_instruction_set() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

}  // namespace recon
#endif
