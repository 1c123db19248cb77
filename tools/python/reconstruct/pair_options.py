"""The options of rectified pairs, made from the program's table of options by tools/manual/typed_options.cpp of the sources."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, Optional, Sequence, Union

__all__ = ["PairOptions"]


@dataclass
class PairOptions:
    """The options of rectified pairs, for `match`, and `run` of pairs; what is None is not given.

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
    dry_run: Print the plan and do nothing: views, neighbours, depth ranges, planes, memory and predicted time. Photos
        are read only of a scene without sparse points, to choose sources by them, and where an earlier run has
        results. The times of earlier runs are kept in $XDG_CACHE_HOME/reconstruct or ~/.cache/reconstruct and improve
        the prediction
    overwrite: Do finished work again, also in a folder with files of other programs, which stay: where one has the
        name of a result, the run is refused. Without it, such a folder is refused, and finished work is kept. Where a
        run with it is stopped, the same command without it goes on: it makes again what is left of that
    wait: Wait while another reconstruct writes into the same output folder
    cost: The cost. planesweep: zncc (normalised cross-correlation) or sad (absolute difference); sgm: census (5x5, of
        a third of the resolution where the texture is weak), census5x5, census9x7, symmetric or rank; bm: sad or ssd;
        pipeline: those of sgm, ad (colour difference) or ad-census (both). Default and range: planesweep: zncc; sgm:
        census; bm: sad; pipeline: census5x5
    window: Side of the matching window, pixels, odd; patches have at most 7. Default and range: planesweep: 5, 3 to
        15; bm: 9, 3 to 31; pipeline: 9, 1 to 255 with cw, 35, 1 to 129 with aw
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
    min_disparity: Min disparity x_left - x_right, pixels; may be negative. Default and range: 0
    max_disparity: End of the disparities, pixels: searched is min <= d < max. Default and range: ndisp of calib.txt
    calibration: The calibration, in the folder of the pair or anywhere: Middlebury's calib.txt; P1 and P2 or Q of
        OpenCV's stereoRectify (YAML or JSON); P0 to P3 of KITTI; JSON of RealSense with intrinsics and baseline.
        Default and range: calib.txt, .yml, .yaml or .json, or KITTI's calib_cam_to_cam.txt in the folder of a pair
    depth_png: Write depth.png too: 16 bits, 0 where unknown; a step is a millimetre, or NUMBER units of the
        calibration. Default and range: there is none
    fill: A disparity for every pixel: holes get planes of the surfaces beside them
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
    min_texture: Min contrast of a window, grey levels: planesweep the standard deviation, bm the mean gradient.
        Default and range: planesweep: 0 with patches, else 1.5; bm: 0, 0 to 255
    speckle: Patches of fewer pixels are dropped; 0: keep all. Default and range: scenes: 20; pairs: 60, but 0 for
        pipelines that interpolate
    roi: Scenes: the cloud keeps the points in the box MINX,MINY,MINZ,MAXX,MAXY,MAXZ, scene units. Pairs with bm: the
        pixels of the left image to match, X,Y,WIDTH,HEIGHT. Default and range: all
    memory_limit: Max host memory, such as 4GiB. Default and range: what is available
    gpu_memory_limit: Max GPU memory. Default and range: most of what is free
    threads: Max number of threads; 0: as many as there are processors. Default and range: 0, 0 to 4096
    """

    method: Optional[Literal["sgm", "bp", "bm", "pipeline"]] = None
    preset: Optional[Literal["ad-census"]] = None
    device: Optional[str] = None
    output: Optional[Union[str, os.PathLike[str]]] = None
    dry_run: Optional[bool] = None
    overwrite: Optional[bool] = None
    wait: Optional[bool] = None
    cost: Optional[Literal["census", "census5x5", "census9x7", "rank", "symmetric", "sad", "ssd", "ad", "ad-census"]] = None
    window: Optional[int] = None
    optimizer: Optional[Literal["graphcut", "scanline", "sgm", "winner"]] = None
    aggregation: Optional[Literal["aw", "cross", "cw", "none"]] = None
    aw_colour: Optional[float] = None
    aw_space: Optional[float] = None
    arm_length: Optional[int] = None
    arm_colour: Optional[int] = None
    cross_iterations: Optional[int] = None
    refine: Optional[Union[str, Sequence[str]]] = None
    min_disparity: Optional[int] = None
    max_disparity: Optional[int] = None
    calibration: Optional[Union[str, os.PathLike[str]]] = None
    depth_png: Optional[Union[str, float]] = None
    fill: Optional[bool] = None
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
    min_texture: Optional[float] = None
    speckle: Optional[int] = None
    roi: Optional[Sequence[float]] = None
    memory_limit: Optional[Union[int, str]] = None
    gpu_memory_limit: Optional[Union[int, str]] = None
    threads: Optional[int] = None
