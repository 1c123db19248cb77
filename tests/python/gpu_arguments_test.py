"""gpu_arguments_test.py: how the module reads what other libraries say of their arrays on a GPU, and what it refuses, without a GPU."""

import sys
import unittest
import weakref

SKIPPED = 77
try:
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(SKIPPED)

import reconstruct
from reconstruct import _gpu, _native


class Interface:
    """What has the memory of a GPU, as it says."""

    def __init__(self, shape, typestr="|u1", strides=None, address=0x1000, read_only=False, **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "strides": strides, "data": (address, read_only),
                                         "version": 3, **more}


class Tensor:
    """The array of NumPy as one of a GPU, by DLPack alone."""

    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


class TensorWithInterface(Tensor):
    """The same with the interface too, without a stream as PyTorch's, or with one."""

    def __init__(self, array, **more):
        super().__init__(array)
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (0x1000, False), "version": 2, **more}


class Arrays(unittest.TestCase):
    def test_images_by_the_interface(self):
        rows = lambda *args, **more: _gpu.image(Interface(*args, **more), 1, "left")[1]
        self.assertEqual(rows((80, 120)), (0x1000, 80, 120, 1, 120, None))
        self.assertEqual(rows((80, 120), strides=(128, 1), stream=2), (0x1000, 80, 120, 1, 128, 2))
        self.assertEqual(rows((80, 120, 1), strides=(128, 1, 1)), (0x1000, 80, 120, 1, 128, None))
        self.assertEqual(rows((80, 120, 3)), (0x1000, 80, 120, 3, 360, None))
        self.assertEqual(rows((80, 120, 3), strides=(512, 3, 1)), (0x1000, 80, 120, 3, 512, None))
        self.assertEqual(rows((1, 120), strides=(0, 1)), (0x1000, 1, 120, 1, 120, None))

    def test_a_map_by_the_interface(self):
        rows = _gpu.output(Interface((80, 120), "<f4", (512, 4)), 1, "out")[1]
        self.assertEqual(rows, (0x1000, 80, 120, 1, 512, None))

    def test_maps_of_normals_by_the_interface(self):
        rows = _gpu.output(Interface((80, 120, 3), "<f4", (2048, 12, 4)), 1, "normal", 3)[1]
        self.assertEqual(rows, (0x1000, 80, 120, 3, 2048, None))
        for wrong in (Interface((80, 120), "<f4"), Interface((80, 120, 3), "<f4", (2048, 16, 4)), Interface((80, 120, 3), "<f4", (12, 960, 4))):
            with self.assertRaises(reconstruct.UsageError):
                _gpu.output(wrong, 1, "normal", 3)

    def test_batches_by_the_interface(self):
        rows = lambda *args, **more: _gpu.images(Interface(*args, **more), 1, "left")[1]
        self.assertEqual(rows((2, 80, 120), stream=5), [(0x1000, 80, 120, 1, 120, 5), (0x1000 + 9600, 80, 120, 1, 120, 5)])
        self.assertEqual(rows((2, 80, 120, 3), strides=(65536, 512, 3, 1)), [(0x1000, 80, 120, 3, 512, None), (0x11000, 80, 120, 3, 512, None)])
        self.assertEqual(rows((2, 80, 120), strides=(0, 120, 1))[1][0], 0x1000)
        self.assertEqual(_gpu.outputs(Interface((2, 80, 120), "<f4"), 1, "out")[1][1], (0x1000 + 38400, 80, 120, 1, 480, None))
        depth = np.zeros((3, 80, 128), np.float32)[1:, :, :120]
        self.assertEqual(_gpu.outputs(Tensor(depth), 1, "out")[1][1][0], depth[1].ctypes.data)

    def test_wrong_batches_are_refused(self):
        for given, words in ((Interface((80, 120)), r"of shape \(80, 120\); a batch is"), (Interface((2, 80, 120), "<f4"), r"left\[0\] is an array of float32"),
                             (Interface((2, 80, 60), strides=(9600, 120, 2)), "must follow each other")):
            with self.assertRaisesRegex(reconstruct.UsageError, words):
                _gpu.images(given, 1, "left")
        for given, words in ((Interface((80, 120), "<f4"), "for a batch"), (Interface((2, 80, 120), "<f8"), r"out\[0\] is an array of float64")):
            with self.assertRaisesRegex(reconstruct.UsageError, words):
                _gpu.outputs(given, 1, "out")

    def test_images_by_dlpack(self):
        image = np.zeros((80, 128, 3), np.uint8)[:, :120]
        tensor = Tensor(image)
        self.assertEqual(_gpu.image(tensor, 7, "left")[1], (image.ctypes.data, 80, 120, 3, 384, None))
        self.assertEqual(tensor.streams, [7])
        depth = np.zeros((80, 128), np.float32)[:, :120]
        self.assertEqual(_gpu.output(Tensor(depth), 1, "out")[1], (depth.ctypes.data, 80, 120, 1, 512, None))

    def test_dlpack_says_what_to_wait_for_where_the_interface_does_not(self):
        image = np.zeros((80, 120), np.uint8)
        without = TensorWithInterface(image)
        self.assertEqual(_gpu.image(without, 7, "left")[1], (image.ctypes.data, 80, 120, 1, 120, None))
        self.assertEqual(without.streams, [7])
        for stream in (9, None):
            given = TensorWithInterface(image, stream=stream)
            self.assertEqual(_gpu.image(given, 7, "left")[1], (0x1000, 80, 120, 1, 120, stream))
            self.assertEqual(given.streams, [])

    def test_types_are_compared_by_what_they_mean(self):
        for typestr in ("|u1", "<u1", "u1", "B", np.uint8):
            self.assertEqual(_gpu.image(Interface((80, 120), typestr), 1, "left")[1][3], 1)
        for typestr in ("<f4", "=f4", "f", "float32"):
            self.assertEqual(_gpu.output(Interface((80, 120), typestr), 1, "out")[1][4], 480)
        with self.assertRaisesRegex(reconstruct.UsageError, "left has values of the type <bf16; images are of uint8"):
            _gpu.image(Interface((80, 120), "<bf16"), 1, "left")

    def test_a_tensor_keeps_its_memory_and_is_used_once(self):
        image = np.zeros((8, 12), np.uint8)
        before, capsule = sys.getrefcount(image), image.__dlpack__()
        tensor = _native.Tensor(capsule)
        self.assertEqual((list(tensor.shape), tensor.type), ([8, 12], (1, 8, 1)))
        self.assertGreater(sys.getrefcount(image), before)
        with self.assertRaisesRegex(TypeError, "used"):
            _native.Tensor(capsule)
        del tensor
        self.assertEqual(sys.getrefcount(image), before)

    def test_wrong_images_are_refused(self):
        wrong = {"uint16": (Interface((80, 120), "<u2"), "array of uint16"),
                 "four channels": (Interface((80, 120, 4)), r"shape \(80, 120, 4\)"),
                 "every second pixel": (Interface((80, 60), strides=(120, 2)), "cupy.ascontiguousarray"),
                 "channels first": (Interface((80, 120, 3), strides=(120, 1, 9600)), "must follow each other"),
                 "a mask": (Interface((80, 120), mask=Interface((80, 120))), "has a mask"),
                 "floats": (Tensor(np.zeros((8, 12), np.float64)), r"type \(2, 64, 1\)")}
        for case, (given, words) in wrong.items():
            with self.subTest(case), self.assertRaisesRegex(reconstruct.UsageError, f"left .*{words}"):
                _gpu.image(given, 1, "left")

    def test_wrong_maps_are_refused(self):
        wrong = {"doubles": (Interface((80, 120), "<f8"), "array of float64"), "read-only": (Interface((80, 120), "<f4", read_only=True), "read-only"),
                 "columns": (Interface((80, 120), "<f4", (4, 320)), "must follow each other"), "big-endian": (Interface((80, 120), ">f4"), "array of >f4"), "volumes": (Interface((8, 8, 3), "<f4"), "shape")}
        for case, (given, words) in wrong.items():
            with self.subTest(case), self.assertRaisesRegex(reconstruct.UsageError, f"out .*{words}"):
                _gpu.output(given, 1, "out")

    def test_arrays_of_the_host_are_refused(self):
        with self.assertRaisesRegex(TypeError, "left is of type ndarray, .*match\\(\\) takes NumPy's"):
            _gpu.image(np.zeros((8, 12), np.uint8), 1, "left")

    def test_streams_of_all_libraries(self):
        def stream(**values):
            return type("Stream", (), values)()

        self.assertIsNone(_gpu.stream_of(None))
        numbers = {9: (9, stream(ptr=9), stream(cuda_stream=9), stream(handle=stream(value=9)), stream(__cuda_stream__=lambda self: (0, 9))),
                   1: (0, 1, stream(ptr=0), stream(handle=stream(value=None)))}
        for number, streams in numbers.items():
            for given in streams:
                self.assertEqual(_gpu.stream_of(given), number)
        with self.assertRaisesRegex(TypeError, "stream is of type str"):
            _gpu.stream_of("0")


def values(shape):
    """Memory of the library."""
    return type("Values", (), {"address": 0x2000, "shape": shape})()


class Native:
    """A matcher or sweeper of the library that notes what it is given."""

    device = 0

    def __init__(self):
        self.calls = []

    def new_map(self):
        return values((80, 120))

    def new_maps(self, count=None):
        return values((count, 80, 120)) if count else (values((80, 120)), values((80, 120, 3)), values((80, 120)))

    def match(self, left, right, out, stream):
        self.calls.append(([rows[5] for rows in (left, right, out)], stream))

    def match_batch(self, left, right, out, stream):
        self.calls.append(([[rows[0] for rows in batch] for batch in (left, right, out)], stream))

    def sweep(self, reference, sources, out, stream, *bounds):
        self.calls.append((reference, sources, out, stream, bounds))


def matcher(native):
    it = reconstruct.Matcher.__new__(reconstruct.Matcher)
    it.width, it.height, it.channels, it._matcher = 120, 80, 1, native
    return it


def sweeper(native):
    it = reconstruct.Sweeper.__new__(reconstruct.Sweeper)
    it.width, it.height, it.channels, it.sources, it._sweeper = 120, 80, 1, 2, native
    return it


CAMERA, POSE = (100, 100, 60, 40), np.eye(4)[:3]


class Sweeps(unittest.TestCase):
    def views(self, *images):
        return [reconstruct.View(image, CAMERA, POSE) for image in images]

    def test_views_and_new_maps(self):
        native = Native()
        reference, source = self.views(Interface((80, 120), stream=5), Interface((80, 120), stream=6))
        maps = sweeper(native).sweep(reference._replace(mask=Interface((80, 120), address=0x5000)), [source], depth_min=1)
        view, sources, out, stream, bounds = native.calls[-1]
        self.assertEqual((view[0], view[1], view[3]), ((0x1000, 80, 120, 1, 120, 5), CAMERA, (0x5000, 80, 120, 1, 120, None)))
        self.assertEqual(view[2], POSE.tolist())
        self.assertEqual([(it[0][5], it[3]) for it in sources], [(6, None)])
        self.assertEqual(out, ((0x2000, 80, 120, 1, 480, None), (0x2000, 80, 120, 3, 1440, None), (0x2000, 80, 120, 1, 480, None)))
        self.assertEqual((stream, bounds), (5, (1.0, None)))
        self.assertEqual([it.shape for it in maps], [(80, 120), (80, 120, 3), (80, 120)])
        self.assertEqual([it.__cuda_array_interface__["stream"] for it in maps], [5, 5, 5])

    def test_maps_of_the_caller(self):
        native = Native()
        reference, source = self.views(Interface((80, 120)), Interface((80, 120)))
        depth = Interface((80, 120), "<f4", stream=8)
        maps = sweeper(native).sweep(reference, [source], (depth, None, None), stream=7)
        self.assertIs(maps.depth, depth)
        self.assertEqual(native.calls[-1][2:4], (((0x1000, 80, 120, 1, 480, 8), None, None), 7))
        again = sweeper(native).sweep(reference, [source], reconstruct.DeviceDepthMaps(depth))
        self.assertEqual((again.normal, again.confidence), (None, None))

    def test_wrong_views_and_maps_are_refused(self):
        reference, source = self.views(Interface((80, 120)), Interface((80, 120)))
        depth = Interface((80, 120), "<f4")
        host = np.zeros((80, 120), np.uint8)
        wrong = {"an image of the host": (([source._replace(image=host)],), TypeError, "source 0 is of type ndarray, which is no array in the memory of a GPU"),
                 "a mask of the host": (([source],), TypeError, "the mask of the reference is of type ndarray"),
                 "a map of the host": (([source], (host.astype(np.float32), None, None)), TypeError, "depth is of type ndarray"),
                 "no depth": (([source], (None, depth, None)), TypeError, "the depth is needed"), "one map": (([source], depth), TypeError, "out is of type Interface"),
                 "depths as normals": (([source], (depth, depth, None)), reconstruct.UsageError, r"normal is .* it must be \(height, width, 3\)"),
                 "one source": ((source,), TypeError, "the sources are of type View"),
                 "a pose": (([source._replace(pose=np.eye(3))],), reconstruct.UsageError, "the pose of source 0"),
                 "bytes": (([source], (Interface((80, 120)), None, None)), reconstruct.UsageError, "depth is an array of uint8")}
        for case, (arguments, kind, words) in wrong.items():
            given = reference._replace(mask=host) if case == "a mask of the host" else reference
            native = Native()
            with self.subTest(case), self.assertRaisesRegex(kind, words):
                sweeper(native).sweep(given, *arguments)
            self.assertEqual(native.calls, [])


class Batches(unittest.TestCase):
    def test_maps_are_one_array(self):
        native = Native()
        live = matcher(native)
        result = live.match_batch(Interface((2, 80, 120), stream=5), Interface((2, 80, 120), address=0x9000))
        self.assertEqual(native.calls, [([[0x1000, 0x1000 + 9600], [0x9000, 0x9000 + 9600], [0x2000, 0x2000 + 38400]], 5)])
        self.assertEqual((result.shape, result.__cuda_array_interface__["stream"]), ((2, 80, 120), 5))
        self.assertIs(live.match_batch(Interface((2, 80, 120)), Interface((2, 80, 120)), result), result)
        self.assertEqual(result.__cuda_array_interface__["stream"], 1)

    def test_arrays_of_the_host_are_refused(self):
        batch = np.zeros((2, 80, 120), np.uint8)
        for images in ((batch, Interface((2, 80, 120))), (Interface((2, 80, 120)), batch)):
            with self.assertRaisesRegex(TypeError, "of type ndarray, which is no array in the memory of a GPU"):
                matcher(Native()).match_batch(*images)


class Streams(unittest.TestCase):
    """Of a call: those of both images and of out, and its own."""

    def images(self, *streams):
        return [Interface((80, 120), stream=stream) for stream in streams]

    def test_the_call_is_that_of_the_left_image_else_the_default_one(self):
        native = Native()
        live = matcher(native)
        for left, asked, used in ((5, None, 5), (5, 7, 7), (None, None, 1), (0, None, 1)):
            result = live.match(*self.images(left, 6), stream=asked)
            self.assertEqual(native.calls[-1], ([left, 6, None], used))
            self.assertEqual(result.__cuda_array_interface__["stream"], used)

    def test_out_is_waited_for(self):
        native = Native()
        live, out = matcher(native), Interface((80, 120), "<f4", stream=8)
        self.assertIs(live.match(*self.images(5, 6), out), out)
        self.assertEqual(native.calls, [([5, 6, 8], 5)])

    def test_results_that_are_written_to_again_say_by_whom(self):
        first, second = Native(), Native()
        result = matcher(first).match(*self.images(5, 5))
        self.assertIs(matcher(second).match(*self.images(6, 6), out=result), result)
        self.assertEqual(second.calls, [([6, 6, 5], 6)])
        self.assertEqual(result.__cuda_array_interface__["stream"], 6)
        self.assertIs(result._writer, second)

    def test_results_keep_their_stream(self):
        class Stream:
            def __init__(self):
                self.ptr = 9

        stream = Stream()
        left, right = self.images(5, 5)
        ends, live = [weakref.ref(stream), weakref.ref(left)], matcher(Native())
        results = [live.match(left, right, stream=stream), live.match(left, right)]
        live.match(*self.images(6, 6))  # so that the matcher keeps neither
        del stream, left
        for i, end in enumerate(ends):
            self.assertIsNotNone(end())
            results[i] = None
            self.assertIsNone(end())

    def test_tensors_are_kept_until_the_next_call(self):
        pixels, depth = np.zeros((80, 120), np.uint8), np.zeros((80, 120), np.float32)
        before, live = (sys.getrefcount(pixels), sys.getrefcount(depth)), matcher(Native())
        live.match(Tensor(pixels), Tensor(pixels), Tensor(depth))
        self.assertEqual((sys.getrefcount(pixels), sys.getrefcount(depth)), (before[0] + 2, before[1] + 1))
        live.match(*self.images(5, 5))
        self.assertEqual((sys.getrefcount(pixels), sys.getrefcount(depth)), before)


class Calls(unittest.TestCase):
    def test_calls_of_the_host_name_the_matcher(self):
        for given in (Interface((80, 120)), Tensor(np.zeros((80, 120), np.uint8))):
            with self.assertRaisesRegex(TypeError, "left is of type .*, in the memory of a GPU.* reconstruct.Matcher"):
                reconstruct.match(given, given, 16, device="cpu")

    def test_a_sweeper_needs_a_gpu(self):
        with self.assertRaisesRegex(reconstruct.DeviceUnavailable, "need a GPU; this device is CPU"):
            reconstruct.Sweeper(320, 240, 2, device="cpu", options=reconstruct.SceneOptions(depth_min=1))

    def test_wrong_sweepers_are_refused(self):
        wrong = {"graphcut": ((320, 240, 2), {"optimizer": "graphcut"}, "graphcut is computed on the host"), "no sources": ((320, 240, 0), {}, "for 0 sources"),
                 "many sources": ((320, 240, 33), {}, "it takes 1 to 32"), "four channels": ((320, 240, 2), {"channels": 4}, "channels is 4"),
                 "sources by their option": ((320, 240, 2), {"options": reconstruct.SceneOptions(sources=2)}, "--sources has no meaning for Sweeper"),
                 "no rows": ((320, 0, 2), {}, "320x0 pixels"), "a wide one": ((2**32 + 320, 240, 2), {}, "each side must be 1 to 16384")}
        for case, (arguments, more, words) in wrong.items():
            with self.subTest(case), self.assertRaisesRegex(reconstruct.UsageError, words):
                reconstruct.Sweeper(*arguments, device="cpu", **more)

    def test_sweeps_of_the_host_name_the_sweeper(self):
        view = reconstruct.View(Interface((80, 120)), CAMERA, POSE)
        with self.assertRaisesRegex(TypeError, "the reference is of type .*, in the memory of a GPU.* reconstruct.Sweeper"):
            reconstruct.sweep(view, [view._replace(image=np.zeros((80, 120), np.uint8))], device="cpu")

    def test_a_matcher_needs_a_gpu(self):
        with self.assertRaisesRegex(reconstruct.DeviceUnavailable, "need a GPU; this device is CPU"):
            reconstruct.Matcher(120, 80, 16, device="cpu")

    def test_wrong_matchers_are_refused(self):
        wrong = {"without a max": ((120, 80), {}, "max-disparity is needed"), "fill": ((120, 80, 16), {"fill": True}, "--fill is computed"),
                 "two channels": ((120, 80, 16), {"channels": 2}, "channels is 2"),
                 "another name": ((120, 80, 16), {"max_disparities": 3}, "did you mean"),
                 "a wide one": ((2**32 + 120, 80, 16), {}, "each side must be 1 to 16384"), "no rows": ((120, 0, 16), {}, "120x0 pixels")}
        for case, (arguments, more, words) in wrong.items():
            with self.subTest(case), self.assertRaisesRegex(reconstruct.UsageError, words):
                reconstruct.Matcher(*arguments, device="cpu", **more)


if __name__ == "__main__":
    unittest.main()
