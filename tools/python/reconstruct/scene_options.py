"""The options of scenes, made from the program's table of options by tools/manual/typed_options.cpp of the sources."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, Optional, Sequence, Union

__all__ = ["SceneOptions"]


@dataclass
class SceneOptions:
    """The options of scenes, for `run`, and as far as they belong to them `sweep` and `fuse`; what is None is not given.

    quality: What resolution, sources and passes are where nothing else says it: draft halves the sides of the images
        and takes at most 8 sources, high takes more sources and passes. Default and range: normal
    method: The method. For scenes: planesweep, a plane sweep. For rectified pairs and for scenes: sgm (semi-global
        matching), bp (belief propagation), bm (block matching) or pipeline (single stages over a stored cost volume).
        In a scene these rectify each view with its best neighbours and merge the depths on which the pairs agree.
        Default and range: scenes: planesweep; pairs: sgm; pipeline with `preset`, and for pairs with stages that only
        it has
    preset: A named pipeline: ad-census (Mei et al. 2011), which is `cost` ad-census `aggregation` cross `optimizer`
        scanline `refine` lr,vote,interpolate,edges,subpixel,median. A stage that is given replaces the one of the
        preset
    device: auto (every usable GPU, else the CPU), cpu, cuda, or GPUs such as cuda:0,2. Default and range: auto
    output: The output folder; with several inputs, it gets a folder for each. Default and range: dense/ in the scene
        or pair folder; ./dense for two image files
    images: The folder of the photos, inside the scene or anywhere; the paths of a transforms.json count from it by
        their last components. Default and range: images/ in the scene, blended_images/ beside cams/, or the folder of
        transforms.json
    depth_maps: Check and fuse the depth maps of this folder, inside the scene or anywhere, instead of estimating
        them: files NAME.geometric.bin, NAME.photometric.bin or NAME.bin (COLMAP's arrays), NAME.pfm, NAME.npy,
        NAME.png (16 bits) or NAME.exr, where NAME is that of the photo, with or without its ending; beside them there
        may be confidences from 0 to 1, NAME.confidence.pfm, .npy or .png. They are of the undistorted images, in any
        resolution. Default and range: they are estimated
    depth_unit: Scene units of one unit of the maps of `depth_maps`, such as 0.001 for millimetres in a scene of
        metres; maps of whole numbers need it. Default and range: 1, of floating-point numbers
    views: Only the views whose names match this shell pattern get depth maps. Default and range: *
    shard: The I-th of N parts of the views, with `stage` estimate. Default and range: 1/1
    stage: estimate: up to the depth maps of single views; fuse: from these to the cloud; all: both. Default and
        range: all
    dry_run: Print the plan and do nothing: views, neighbours, depth ranges, planes, memory and predicted time. Photos
        are read only of a scene without sparse points, to choose sources by them, and where an earlier run has
        results. The times of earlier runs are kept in $XDG_CACHE_HOME/reconstruct or ~/.cache/reconstruct and improve
        the prediction
    overwrite: Do finished work again, also in a folder with files of other programs, which stay: where one has the
        name of a result, the run is refused. Without it, such a folder is refused, and finished work is kept. Where a
        run with it is stopped, the same command without it goes on: it makes again what is left of that
    clean: Remove the maps of a view before the check across views as soon as no check needs them: about a tenth of
        what a scene takes on the disk. They are estimated again where other options of the check need them
    wait: Wait while another reconstruct writes into the same output folder
    cost: The cost. planesweep: zncc (normalised cross-correlation) or sad (absolute difference); sgm: census (5x5, of
        a third of the resolution where the texture is weak), census5x5, census9x7, symmetric or rank; bm: sad or ssd;
        pipeline: those of sgm, ad (colour difference) or ad-census (both). Default and range: planesweep: zncc; sgm:
        census; bm: sad; pipeline: census5x5
    colour: Match red, green and blue instead of grey, with `cost` sad
    window: Side of the matching window, pixels, odd; patches have at most 7. Default and range: planesweep: 5, 3 to
        15; bm: 9, 3 to 31; pipeline: 9, 1 to 255 with cw, 35, 1 to 129 with aw
    combine: How the costs of the source views become one: min, mean, or best-k (mean of the k best). Default and
        range: planesweep: best-k
    best_k: Number of source views of best-k. Default and range: planesweep: 2, 1 to 8
    optimizer: What chooses among the planes or disparities: winner (the least cost of each pixel), sgm (semi-global
        matching), graphcut (alpha-expansion); pipeline also scanline (four paths). Default and range: planesweep,
        pipeline: sgm
    aggregation: Aggregation of the costs around each pixel: none, cw (constant window), aw (adaptive weights, slow)
        or cross (arms that end at colour edges). Default and range: planesweep, pipeline: none
    aw_colour: Colour difference (CIELab) at which adaptive weights fall to 1/e. Default and range: planesweep,
        pipeline: 12, 0.1 to 1000
    aw_space: Distance at which adaptive weights fall to 1/e, pixels. Default and range: planesweep, pipeline: 17.5,
        0.1 to 1000
    arm_length: Max length of the arms of a cross, pixels. Default and range: planesweep, pipeline: 33, 0 to 255
    arm_colour: Difference of a channel at which an arm ends, grey levels. Default and range: planesweep, pipeline:
        20, 0 to 256
    cross_iterations: Number of successive aggregations over the crosses. Default and range: planesweep: 4, 0 to 64;
        pipeline: 2, 0 to 64
    refine: none, or a list of steps after the optimizer, with commas between them, which run in this order: graphcut
        (lower the energy), lr (check both views), vote (repair what the check finds by votes of regions), interpolate
        (repair the rest; else it becomes unknown), edges (move edges to lower costs), subpixel, median, smooth
        (planes of the surfaces around). planesweep has graphcut, edges (of patches last, to where the colours have
        them; unknown where these cannot say), patches (sweep small images and refine slanted patches from there),
        smooth (patches in the planes that those around agree on) and prior (after patches, where texture is weak:
        planes through reliable pixels around); edges,patches,smooth,prior is its default unless planes or stages are
        given. Default and range: planesweep: none; pipeline: lr,subpixel,median
    rank_window: Side of the window of `cost` rank, pixels, odd. Default and range: sgm, pipeline: 9, 3 to 15
    paths: Number of path directions, 4 or 8. Default and range: planesweep, sgm, pipeline: 8
    p1: Penalty of a step of one disparity; of `cost` ad-census in hundredths. Default and range: planesweep: 5, 0 to
        7936; sgm: 12, 0 to 7936; pipeline: of the max cost 1/4 with sgm, 1/2 with scanline, 1/6 with graphcut
    p2: Penalty of a larger step. Default and range: planesweep: 120, 0 to 7936; sgm: 63, 0 to 7936; pipeline: of the
        max cost 5/3 with sgm, 3/2 with scanline, 1/3 with graphcut
    p2_falloff: Difference of an edge over which `p2` falls off, grey levels; 0: it does not. Default and range:
        planesweep: 6, 0 to 255; sgm: 16, 0 to 255; pipeline: 16
    uniqueness: Min cost margin of the winner over other disparities, per cent. Default and range: sgm: 5, 0 to 99;
        bm: 10, 0 to 99
    left_right: Max difference between the disparities of both views, pixels; sgm and bm: -1 for no check. Default and
        range: sgm, bm: 1, -1 to 4096; pipeline: 0, 0 to 4096
    prefilter: sobel: compare horizontal gradients, which do not depend on the brightness; none: grey levels. Default
        and range: bm: sobel
    prefilter_cap: Clipping bound of the gradients. Default and range: bm: 15, 1 to 31
    steps: Disparities searched per pixel: 1, 2 or 4. Default and range: bm: 1
    pyramid: Number of pyramid levels; coarse ones match large disparities. Default and range: bm: 1, 1 to 8
    max_mean_cost: Max mean cost per pixel of a trusted disparity; 0: no limit. Default and range: bm: 0, 0 to 65025
    levels: Number of pyramid levels. Default and range: bp: 5, 1 to 16
    iterations: Number of iterations per level. Default and range: bp: 7, 1 to 1000
    data_weight: Weight of the grey difference. Default and range: bp: 0.1, 0.0001 to 100
    data_cap: Truncation of the grey difference, grey levels. Default and range: bp: 15, 0 to 255
    smoothness_cap: Truncation of the difference between neighbours, pixels; 0: disparities / 7.5. Default and range:
        bp: 0, 0 to 4096
    sigma: Gaussian blur of the images beforehand, pixels; 0: none. Default and range: bp: 0, 0 to 10
    storage: Number format of stored messages: float, half or bfloat16. Default and range: bp: half
    sources: Max number of source views per reference view. Default and range: by `quality`: 8, 20 or 32 with patches,
        else 8, 12 or 20; from 1 to 32
    min_angle: Min angle under which two views see a surface. Default and range: 1, 0 to 180
    max_angle: Max angle under which two views see a surface. Default and range: 60, 0 to 180
    max_image_size: Longest side of the images, which are reduced to it, pixels. 0: by `quality`; normal reduces
        larger photos to 1600 (not with `depth_maps`), draft to half of what normal does, high none. Default and
        range: 0, 0 to 16384
    planes: Number of planes; auto: neighbouring planes at most a pixel apart in every source, but no more than 256.
        Default and range: planesweep: auto
    depth_min: Min depth, scene units. Default and range: where a coarse search of each view finds surfaces
    depth_max: Max depth, scene units. Default and range: where a coarse search of each view finds surfaces
    max_cost: Max cost of a trusted depth. Default and range: planesweep: 0.8 with patches, else 0.6 with zncc, 15
        grey levels with sad
    min_confidence: Min confidence: with patches the probability that a depth is right within 1 %, else how unique the
        best plane is. Default and range: planesweep: 0.35 with patches, else 0.05
    min_lone_confidence: Min confidence of a depth where no other view has one; 0.9: those of planes of the scene; 1:
        none is kept. `min_views` above 1 keeps none, `min_fused_views` above 2 none in the cloud. Default and range:
        planesweep: 0.9, 0 to 1
    min_texture: Min contrast of a window, grey levels: planesweep the standard deviation, bm the mean gradient.
        Default and range: planesweep: 0 with patches, else 1.5; bm: 0, 0 to 255
    speckle: Patches of fewer pixels are dropped; 0: keep all. Default and range: scenes: 20; pairs: 60, but 0 for
        pipelines that interpolate
    min_views: Number of source views that have to agree on a depth. Default and range: 1, 1 to 32
    max_depth_error: Max relative depth difference of views that agree. Default and range: 0.01, 0.000001 to 1
    max_normal_angle: Max angle between the normals of views that agree. Default and range: planesweep: 30 with
        patches, more where normals are noisy; else 60
    max_hole: Holes in a surface are filled where known pixels on both sides are at most this many rows or columns
        away; 0: no hole is filled. Default and range: planesweep: 16, 0 to 32
    scene_planes: Planes of the scene, at most, that are found in the depths of all views; areas without texture that
        lie on one are filled, and so is a ground that is seen at a grazing angle; the sky is left empty; 0: none of
        it. Default and range: planesweep: 40, 0 to 254
    prior_maps: Depths of a network or a sensor for areas where the photos say nothing, of some or all views, in files
        named as those of `depth_maps`, of the photos or their undistorted images, in any resolution and of any scale;
        confidences beside them (NAME.confidence.*, NAME_confidence.*, or NAME.* in a folder confidence beside DIR),
        from 0 to 1 or ARKit's levels, say what counts; a prior that does not follow the depths of its view is not
        used. Default and range: planesweep: none
    prior_kind: What the values of `prior_maps` follow up to a scale and a shift: depth (along the optical axis),
        inverse (1 / depth, disparity), distance (from the camera); auto: depth or inverse, what fits better. 0 is
        unknown. Default and range: planesweep: auto
    min_fused_views: Min number of views of a point of the cloud, where several views have a depth. Default and range:
        2
    point_spacing: Distance of the points that a view gives to the cloud, pixels; 1 for the densest cloud. Default and
        range: 1, 1 to 8
    roi: Scenes: the cloud keeps the points in the box MINX,MINY,MINZ,MAXX,MAXY,MAXZ, scene units. Pairs with bm: the
        pixels of the left image to match, X,Y,WIDTH,HEIGHT. Default and range: all
    offset: Subtract X,Y,Z from the coordinates of the cloud, its tiles and what is exported for splats, for programs
        that work in floats, such as MeshLab; fused.offset.txt and the PLY files say it. auto: round numbers near the
        cameras where floats would blur the points, else 0. Default and range: 0,0,0
    tile: Write the cloud once more, divided by a grid over x and y into files below tiles/, named by their corners:
        the side of a tile in scene units, such as metres; 0: no tiles. A later run without it removes them. Default
        and range: 0
    export_points: Write splat/, a COLMAP model of the undistorted images with at most N points of the cloud, with
        colours and tracks, from which Gaussian splatting and nerfstudio begin; the points are evenly spread in space
        around the views, and beyond them coarser with distance, as the views see it; 0: no model. A later run without
        it removes that model. Default and range: 0
    export_priors: Write depths, and what else the program reads, of the checked views to splat/, which guide the
        training of splats: 3dgs (inverse depths for gaussian-splatting), nerfstudio (depths and transforms.json),
        lichtfeld (depths and normals for LichtFeld Studio), npy (depths, normals and confidences as arrays of NumPy);
        none. A later run without it removes them. Default and range: none
    export_filled: Fill the holes of what `export_priors` writes smoothly from the depths around them, with a
        confidence of 0; for trainers that take a hole for something infinitely far
    memory_limit: Max host memory, such as 4GiB. Default and range: what is available
    gpu_memory_limit: Max GPU memory. Default and range: most of what is free
    threads: Max number of threads; 0: as many as there are processors. Default and range: 0, 0 to 4096
    """

    quality: Optional[Literal["draft", "high", "normal"]] = None
    method: Optional[Literal["planesweep", "sgm", "bp", "bm", "pipeline"]] = None
    preset: Optional[Literal["ad-census"]] = None
    device: Optional[str] = None
    output: Optional[Union[str, os.PathLike[str]]] = None
    images: Optional[Union[str, os.PathLike[str]]] = None
    depth_maps: Optional[Union[str, os.PathLike[str]]] = None
    depth_unit: Optional[float] = None
    views: Optional[str] = None
    shard: Optional[str] = None
    stage: Optional[Literal["all", "estimate", "fuse"]] = None
    dry_run: Optional[bool] = None
    overwrite: Optional[bool] = None
    clean: Optional[bool] = None
    wait: Optional[bool] = None
    cost: Optional[Literal["sad", "zncc", "census", "census5x5", "census9x7", "rank", "symmetric", "ssd", "ad", "ad-census"]] = None
    colour: Optional[bool] = None
    window: Optional[int] = None
    combine: Optional[Literal["best-k", "mean", "min"]] = None
    best_k: Optional[int] = None
    optimizer: Optional[Literal["graphcut", "sgm", "winner", "scanline"]] = None
    aggregation: Optional[Literal["aw", "cross", "cw", "none"]] = None
    aw_colour: Optional[float] = None
    aw_space: Optional[float] = None
    arm_length: Optional[int] = None
    arm_colour: Optional[int] = None
    cross_iterations: Optional[int] = None
    refine: Optional[Union[str, Sequence[str]]] = None
    rank_window: Optional[int] = None
    paths: Optional[int] = None
    p1: Optional[int] = None
    p2: Optional[int] = None
    p2_falloff: Optional[int] = None
    uniqueness: Optional[int] = None
    left_right: Optional[int] = None
    prefilter: Optional[Literal["none", "sobel"]] = None
    prefilter_cap: Optional[int] = None
    steps: Optional[int] = None
    pyramid: Optional[int] = None
    max_mean_cost: Optional[float] = None
    levels: Optional[int] = None
    iterations: Optional[int] = None
    data_weight: Optional[float] = None
    data_cap: Optional[float] = None
    smoothness_cap: Optional[float] = None
    sigma: Optional[float] = None
    storage: Optional[Literal["bfloat16", "float", "half"]] = None
    sources: Optional[int] = None
    min_angle: Optional[float] = None
    max_angle: Optional[float] = None
    max_image_size: Optional[int] = None
    planes: Optional[Union[int, Literal["auto"]]] = None
    depth_min: Optional[float] = None
    depth_max: Optional[float] = None
    max_cost: Optional[float] = None
    min_confidence: Optional[float] = None
    min_lone_confidence: Optional[float] = None
    min_texture: Optional[float] = None
    speckle: Optional[int] = None
    min_views: Optional[int] = None
    max_depth_error: Optional[float] = None
    max_normal_angle: Optional[float] = None
    max_hole: Optional[int] = None
    scene_planes: Optional[int] = None
    prior_maps: Optional[Union[str, os.PathLike[str]]] = None
    prior_kind: Optional[Literal["auto", "depth", "distance", "inverse"]] = None
    min_fused_views: Optional[int] = None
    point_spacing: Optional[int] = None
    roi: Optional[Sequence[float]] = None
    offset: Optional[Union[Literal["auto"], Sequence[float]]] = None
    tile: Optional[float] = None
    export_points: Optional[int] = None
    export_priors: Optional[Literal["3dgs", "lichtfeld", "nerfstudio", "none", "npy"]] = None
    export_filled: Optional[bool] = None
    memory_limit: Optional[Union[int, str]] = None
    gpu_memory_limit: Optional[Union[int, str]] = None
    threads: Optional[int] = None
