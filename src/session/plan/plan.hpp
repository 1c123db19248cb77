#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "match/warp_step.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair_depth.hpp"
#include "methods/sweep/sweep_problem.hpp"
#include "scene/pinhole.hpp"
#include "scene/scene.hpp"
#include "session/options/scene_settings.hpp"

namespace recon {

/// A source that a view is rectified and matched with.
struct ViewPair {
  int source = 0;  ///< index of the plan's views
  RectifiedPair pair;
};

/// The plan of one view.
struct ViewPlan {
  Pinhole camera;                ///< of its undistorted image
  bool unchanged = false;        ///< the photo is its own undistorted image
  std::string output_name;       ///< of the view in the output folder
  std::vector<int> sources;      ///< best first, indices of the plan's views
  std::vector<int> overlapping;  ///< indices of the views that see most of what it sees, see overlaps
  DepthRange expected;           ///< where its surfaces are expected
  DepthRange range;              ///< searched; a sweep narrows it to where it finds surfaces
  int planes = 0;                ///< of the sweep, at most; 0 for the methods that match pairs
  int wanted_planes = 0;         ///< see wanted_planes; `planes` may be fewer
  int levels = 0;                ///< how often its images are halved for patches
  std::vector<ViewPair> pairs;   ///< of the methods that match pairs
  bool in_scope = false;  ///< matches --views and has a source to work with: it gets a depth map, by this run
                          ///< or another shard's
  bool active = false;    ///< in scope, and this run's shard
  bool needed = false;    ///< in scope, or the source of such a view: its undistorted image is written

  /// The sources that it is swept or paired with.
  std::vector<int> matched_views() const;
};

/// The plan of a scene. Views are those of `scene`, without those left out.
struct ScenePlan {
  Scene scene;
  std::vector<ViewPlan> views;
  std::vector<LeftOut> left_out;
  std::vector<std::string> warnings;
  std::size_t given_map_bytes = 0;  ///< that reading a map of --depth-maps takes
  std::size_t prior_map_bytes = 0;  ///< the same of --prior-maps
  std::size_t corner_bytes = 0;     ///< of the corners that photos share, which are kept

  std::vector<int> all_views() const;
  std::vector<int> active_views() const;
  std::vector<int> needed_views() const;
  std::vector<int> views_in_scope() const;
  /// Some views by the names of their photos.
  std::map<std::string, std::vector<int>> by_photo(const std::vector<int>& some) const;
  /// For each view those that may see the same surface, rising: its sources, the views whose source it is,
  /// and those that see most of what it sees, though perhaps under angles too large or too small to match.
  std::vector<std::vector<int>> overlaps() const;
  const View& scene_view(int view) const { return scene.views[view]; }
  const Camera& photo_camera(int view) const {
    const View& it = scene_view(view);
    return it.face ? it.face->lens : scene.cameras[it.camera];
  }
  const std::string& name(int view) const { return scene_view(view).name; }
  const ViewPlan& view(int index) const { return views[index]; }
};

/// The number of photos that the views of a scene are from.
std::size_t photo_count(const Scene& scene);

inline bool is_left_out(const std::vector<LeftOut>& left_out, const std::string& name) {
  return std::ranges::find(left_out, name, &LeftOut::name) != left_out.end();
}

/// Chooses sources, depth ranges, and planes or rectified pairs of the views of `scene` that are not left
/// out.
/// @param has_map  of a view by its name: whether it can have a depth map
/// @param corners  points that photos share, by which a scene without sparse points chooses its sources, but
/// not
///                 its depths; tracks are of the views of `scene`. Empty: the geometry of the cameras chooses
/// @throws InputError when fewer than two views are left, none matches --views, or no two views overlap or
/// can be rectified
using HasMap = std::function<bool(const std::string&)>;
ScenePlan make_plan(
    const Scene& scene, const std::vector<LeftOut>& left_out, const SceneSettings& settings,
    const HasMap& has_map = [](const std::string&) { return true; },
    const std::vector<SparsePoint>& corners = {});

/// How many photos are larger than their images because nobody gave a size, and how that is changed; empty
/// without any.
std::string reduced_images_text(const ScenePlan& plan, const ImageSizes& images);

/// Gives a plan the images of other sizes: cameras, planes and pairs; sources and depths stay.
/// @throws InputError when no two views can be rectified
void resize_images(const ImageSizes& images, const MatchingSettings& matching, ScenePlan& plan);

/// The plan of views whose images are their own undistorted ones: their depth ranges and overlaps, and the
/// planes of those that are swept.
/// @param scene    without points; cameras are pinholes
/// @param sources  of each view, best first; empty: they are chosen as by make_plan
/// @param swept    indices of views that have sources
/// @throws InputError where all views are in one place
ScenePlan plan_given_views(Scene scene, const std::vector<std::vector<int>>& sources,
                           const std::vector<int>& swept, const SceneSettings& settings);

/// The planes of a view that lie at most a pixel apart in every source, at the size that is swept; or the
/// number that the user gives.
int wanted_planes(const ScenePlan& plan, int view, const DepthRange& range, const MatchingSettings& matching);

/// How often the images of a view are halved for its patches: no image becomes smaller than 160 pixels.
/// @param side  the shortest one of its image and its sources
int patch_levels(int side, const MatchingSettings& matching);

/// A note if `auto` would choose more planes than its limit; else empty.
std::string plane_limit_note(const ScenePlan& plan);

/// A view's camera and pose, with `channels` channels that lack their pixels.
PosedImage posed_view(const ScenePlan& plan, int view, int channels);

/// The sweep of a view over all depths that are searched; its images lack their pixels.
SweepProblem sweep_problem(const ScenePlan& plan, int view, const MatchingSettings& matching);

/// Narrows the planes of a sweep that has its pixels to the depths at which there are surfaces.
/// @returns these depths; nothing where no others are searched
/// @throws what Backend::sweep throws
using SearchDepths = std::function<std::optional<DepthRange>(const SweepProblem& problem)>;
std::optional<DepthRange> narrow_planes(const SearchDepths& search, const ScenePlan& plan, int view,
                                        const MatchingSettings& matching, SweepProblem& problem);
std::optional<DepthRange> narrow_planes(Backend& backend, const ScenePlan& plan, int view,
                                        const MatchingSettings& matching, SweepProblem& problem);

/// `scene` with only the views of `kept`, rising indices; the track elements of others are removed, points
/// stay.
Scene keep_views(const Scene& scene, const std::vector<int>& kept);

/// The scene of the undistorted images of the plan's needed views: PINHOLE cameras, the same poses and
/// points. Observations are moved to where the undistorted image has them; those outside it are dropped.
/// Views are in the order of the plan; where their ids are not ascending in it, they are renumbered from 1.
Scene undistorted_scene(const ScenePlan& plan);

/// The pipeline that the pairs of a scene are matched with.
PairDepthOptions pair_depth_options(const MatchingSettings& matching);

/// Sets levels and planes of a view that is swept.
void choose_planes(const MatchingSettings& matching, int index, ScenePlan& plan);

/// Rectifies every view with its sources; says of those that have sources but no pair why.
/// @throws InputError when no view has a pair, but some have sources
void choose_pairs(const MatchingSettings& matching, ScenePlan& plan);

}  // namespace recon
