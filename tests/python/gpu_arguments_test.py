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


class Native:
    """A matcher of the library that notes what it is given."""

    device = 0

    def __init__(self):
        self.calls = []

    def new_map(self):
        return type("Map", (), {"address": 0x2000})()

    def match(self, left, right, out, stream):
        self.calls.append(([rows[5] for rows in (left, right, out)], stream))


def matcher(native):
    it = reconstruct.Matcher.__new__(reconstruct.Matcher)
    it.width, it.height, it.channels, it._matcher = 120, 80, 1, native
    return it


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
        self.assertIs(result._matcher, second)

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
