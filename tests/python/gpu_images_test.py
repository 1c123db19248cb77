"""gpu_images_test.py: pairs in the memory of a GPU give what the same pairs in host memory give, bit for bit, with the memory of the
driver alone, and with CuPy and PyTorch where they are. Skipped without a GPU; with RECON_REQUIRE_GPU=1 it fails."""

import ctypes
import os
import sys
import threading
import time
import unittest

SKIPPED = 77


def skip(reason):
    print(reason)
    sys.exit(1 if os.environ.get("RECON_REQUIRE_GPU") == "1" else SKIPPED)


try:
    import numpy as np
except ImportError as missing:
    skip(missing)

import reconstruct

try:
    DEVICE = reconstruct.Device("cuda")
    DRIVER = ctypes.CDLL("libcuda.so.1")
except (reconstruct.DeviceUnavailable, OSError) as reason:
    skip(reason)

WIDTH, HEIGHT, DISPARITIES = 200, 120, 32


def driver(name, *arguments):
    status = getattr(DRIVER, name)(*arguments)
    assert status == 0, f"{name}: {status}"


CONTEXT = ctypes.c_void_p()
driver("cuInit", 0)
driver("cuDevicePrimaryCtxRetain", ctypes.byref(CONTEXT), 0)
driver("cuCtxSetCurrent", CONTEXT)


def stream():
    """One that does not wait for the default stream."""
    made = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(made), 1)
    return made.value


def delay(number, seconds=0.1):
    """Keeps a stream at work for a while, without the interpreter."""
    driver("cuLaunchHostFunc", ctypes.c_void_p(number), ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p),
           ctypes.c_void_p(int(1e6 * seconds)))


class Memory:
    """A copy of an array on the GPU, of rows with padding, as other libraries have theirs."""

    def __init__(self, array, padding=0, stream=None):
        rows = array.reshape(array.shape[0], -1)
        padded = np.full((rows.shape[0], rows.shape[1] + padding), 255 if array.dtype == np.uint8 else -1, array.dtype)
        padded[:, :rows.shape[1]] = rows
        self.padded, self.columns, self.shape, self.dtype = padded, rows.shape[1], array.shape, array.dtype
        self.address = ctypes.c_uint64()
        driver("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(padded.nbytes))
        driver("cuMemcpyHtoD_v2", self.address, padded.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(padded.nbytes))
        strides = (padded.strides[0], *array.strides[1:])
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "strides": strides,
                                         "data": (self.address.value, False), "version": 3, "stream": stream}

    def __del__(self):
        DRIVER.cuMemFree_v2(self.address)

    def queue_copy(self, source, number):
        """Of the same size, on a stream."""
        driver("cuMemcpyDtoDAsync_v2", self.address, source, ctypes.c_size_t(self.padded.nbytes), ctypes.c_void_p(number))

    def numpy(self):
        driver("cuMemcpyDtoH_v2", self.padded.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(self.padded.nbytes))
        return self.padded[:, :self.columns].reshape(self.shape)


def downloaded(array):
    """Of a DeviceArray, once all work is done."""
    driver("cuCtxSynchronize")
    host = np.empty(array.shape, array.dtype)
    address, _ = array.__cuda_array_interface__["data"]
    driver("cuMemcpyDtoH_v2", host.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(address), ctypes.c_size_t(host.nbytes))
    return host


def pair(seed=0, channels=None):
    """A right image of noise, and a left one that sees a box before a wall."""
    random = np.random.default_rng(seed)
    right = random.integers(0, 255, (HEIGHT, WIDTH) + ((channels,) if channels else ()), np.uint8)
    left = np.roll(right, 5, 1)
    left[30:90, 60:140] = np.roll(right, 17, 1)[30:90, 60:140]
    return left, right


def of_host(left, right, **options):
    return reconstruct.match(left, right, DISPARITIES, device=DEVICE, **options).disparity


def matcher(**options):
    return reconstruct.Matcher(WIDTH, HEIGHT, DISPARITIES, device=DEVICE, **options)


class GpuImages(unittest.TestCase):
    def assert_same(self, found, expected):
        self.assertGreater(np.isfinite(expected).mean(), 0.5)
        np.testing.assert_array_equal(np.ascontiguousarray(found).view(np.uint32), np.ascontiguousarray(expected).view(np.uint32))

    def test_results_are_those_of_host_memory(self):
        for options in ({}, {"method": "bm"}, {"speckle": 0, "p1": 9}, {"preset": "ad-census"}):
            for channels in (None, 3):
                left, right = pair(1, channels)
                with self.subTest(options=options, channels=channels):
                    expected = of_host(left, right, **options)
                    live = matcher(channels=channels or 1, **options)
                    images = Memory(left), Memory(right)
                    self.assert_same(downloaded(live.match(*images)), expected)
                    out = Memory(np.zeros((HEIGHT, WIDTH), np.float32), padding=7)
                    images = Memory(left, padding=5), Memory(right, padding=24)
                    self.assertIs(live.match(*images, out=out), out)
                    driver("cuCtxSynchronize")
                    self.assert_same(out.numpy(), expected)
                    self.assertTrue((out.padded[:, WIDTH:] == -1).all())

    def test_streams(self):
        left, right = pair(2)
        expected, live, images = of_host(left, right), matcher(), (Memory(left), Memory(right))
        for number in (stream(), 0, 1, 2):
            out = Memory(np.zeros((HEIGHT, WIDTH), np.float32))
            live.match(*images, out, stream=number)
            driver("cuCtxSynchronize")
            self.assert_same(out.numpy(), expected)
        number = stream()
        result = live.match(Memory(left, stream=number), Memory(right, stream=1))
        self.assertEqual(result.__cuda_array_interface__["stream"], number)
        self.assert_same(downloaded(result), expected)

    def test_images_of_other_streams_are_waited_for(self):
        left, right = pair(8)
        expected, live = of_host(left, right), matcher()
        there = Memory(left), Memory(right)
        out = Memory(np.zeros((HEIGHT, WIDTH), np.float32))
        live.match(*there, out)
        for late in (0, 1):
            camera, work = stream(), stream()
            images = list(there)
            images[late] = Memory(np.zeros_like(left), stream=camera)
            driver("cuCtxSynchronize")
            delay(camera)
            images[late].queue_copy(there[late].address, camera)
            live.match(*images, out, stream=work)
            driver("cuCtxSynchronize")
            self.assert_same(out.numpy(), expected)

    def test_the_stream_of_out_is_waited_for(self):
        left, right = pair(9)
        expected, live, images = of_host(left, right), matcher(), (Memory(left), Memory(right))
        reader, work = stream(), stream()
        zeros = np.zeros((HEIGHT, WIDTH), np.float32)
        out, copy = Memory(zeros, stream=reader), Memory(zeros + 1)
        live.match(*images, Memory(zeros))
        driver("cuCtxSynchronize")
        delay(reader)
        copy.queue_copy(out.address, reader)
        live.match(*images, out, stream=work)
        driver("cuCtxSynchronize")
        self.assert_same(out.numpy(), expected)
        np.testing.assert_array_equal(copy.numpy(), zeros)

    def test_readers_of_a_result_wait_for_it(self):
        live, (left, right) = matcher(), pair(10)
        copy, reader = Memory(np.zeros((HEIGHT, WIDTH), np.float32)), stream()
        expected = of_host(left, right)
        images = Memory(left), Memory(right)
        result = live.match(images[1], images[0])
        driver("cuCtxSynchronize")
        work = stream()
        delay(work)
        self.assertIs(live.match(*images, out=result, stream=work), result)
        self.assertEqual(result.__cuda_array_interface__["stream"], work)
        tensor = reconstruct._native.Tensor(result.__dlpack__(stream=reader))
        copy.queue_copy(ctypes.c_uint64(tensor.address), reader)
        driver("cuCtxSynchronize")
        self.assert_same(copy.numpy(), expected)

    def test_a_matcher_that_ends_lets_other_threads_run(self):
        left, right = pair(11)
        live, images, work = matcher(), (Memory(left), Memory(right)), stream()
        out = Memory(np.zeros((HEIGHT, WIDTH), np.float32))
        live.match(*images, out)
        driver("cuCtxSynchronize")
        turns, ended = [], threading.Event()

        def count():
            while not ended.wait(0.001):
                turns.append(1)

        other = threading.Thread(target=count)
        other.start()
        delay(work, 0.5)
        live.match(*images, out, stream=work)
        before, begin = len(turns), time.perf_counter()
        del live
        seconds, counted = time.perf_counter() - begin, len(turns) - before
        ended.set()
        other.join()
        self.assertGreater(seconds, 0.2, "the end of the matcher waits for its work")
        self.assertGreater(counted, 20)

    def test_results_are_shared_by_dlpack(self):
        left, right = pair(3)
        images = Memory(left), Memory(right)
        result = matcher().match(*images)
        tensor = reconstruct._native.Tensor(result.__dlpack__())
        address, _ = result.__cuda_array_interface__["data"]
        self.assertEqual((tensor.address, list(tensor.shape), tensor.strides, tensor.type), (address, [HEIGHT, WIDTH], None, (2, 32, 1)))
        self.assertEqual(result.__dlpack_device__(), (2, 0))
        with self.assertRaises(BufferError):
            result.__dlpack__(copy=True)
        del tensor
        unused = result.__dlpack__(stream=1)
        del unused
        self.assert_same(downloaded(result), of_host(left, right))

    def test_a_thousand_calls_leave_nothing(self):
        left, right = (Memory(image) for image in pair(4))
        out, live = Memory(np.zeros((HEIGHT, WIDTH), np.float32)), matcher()

        def free_after(calls):
            for _ in range(calls):
                live.match(left, right, out)
                live.match(left, right).__dlpack__()
            driver("cuCtxSynchronize")
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            driver("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
            return free.value

        before = free_after(10)
        self.assertLess(before - free_after(1000), 4 << 20)  # of the driver

    def test_host_memory_behind_the_interface_is_refused(self):
        left, right = pair(5)
        host = type("Host", (), {"__cuda_array_interface__": {"shape": left.shape, "typestr": "|u1", "strides": None, "version": 3,
                                                             "data": (left.ctypes.data, False)}})()
        with self.assertRaisesRegex(reconstruct.UsageError, "left is not in the memory of a GPU"):
            matcher().match(host, Memory(right))
        with self.assertRaisesRegex(reconstruct.UsageError, "right has 100x120 pixels; the matcher is for 200x120"):
            matcher().match(Memory(left), Memory(right[:, :100]))


class Batches(unittest.TestCase):
    def test_results_are_those_of_calls_one_by_one(self):
        for channels in (None, 3):
            pairs = [pair(seed, channels) for seed in range(20, 23)]
            left, right = (np.stack(images) for images in zip(*pairs))
            expected = np.stack([of_host(*it) for it in pairs])
            self.assertGreater(np.isfinite(expected).mean(), 0.5)
            np.testing.assert_array_equal(reconstruct.match_batch(left, right, DISPARITIES, device=DEVICE).disparity, expected)
            live = matcher(channels=channels or 1)
            images = DeviceBatch(left), DeviceBatch(right)
            result = live.match_batch(*images)
            self.assertEqual(result.shape, expected.shape)
            np.testing.assert_array_equal(downloaded(result).view(np.uint32), expected.view(np.uint32))
            out = DeviceBatch(np.zeros_like(expected))
            self.assertIs(live.match_batch(*images, out=out), out)
            driver("cuCtxSynchronize")
            np.testing.assert_array_equal(out.numpy().reshape(expected.shape).view(np.uint32), expected.view(np.uint32))
            tensor = reconstruct._native.Tensor(result.__dlpack__())
            self.assertEqual(list(tensor.shape), list(expected.shape))

    def test_wrong_batches_are_refused(self):
        left, right = pair(24)
        live, batch = matcher(), DeviceBatch(np.stack([left, left]))
        with self.assertRaisesRegex(reconstruct.UsageError, "2 left and 1 right images"):
            live.match_batch(batch, DeviceBatch(np.stack([right])))
        with self.assertRaisesRegex(reconstruct.UsageError, "1 maps for 2 pairs"):
            live.match_batch(batch, batch, DeviceBatch(np.zeros((1, HEIGHT, WIDTH), np.float32)))
        with self.assertRaisesRegex(reconstruct.UsageError, "pair 0: left has 100x120 pixels"):
            live.match_batch(DeviceBatch(np.stack([left[:, :100]] * 2)), batch)


class DeviceBatch(Memory):
    """A batch of arrays without padding."""

    def __init__(self, array):
        super().__init__(array.reshape(array.shape[0], -1))
        self.__cuda_array_interface__ = dict(self.__cuda_array_interface__, shape=array.shape, strides=None)


class OtherLibraries(unittest.TestCase):
    def test_cupy(self):
        try:
            import cupy
        except ImportError as missing:
            self.skipTest(str(missing))
        left, right = pair(6)
        expected, live = of_host(left, right), matcher()
        for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
            with stream:
                images = cupy.asarray(left), cupy.asarray(right)
                result = live.match(*images)
                np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(result)), expected)
                np.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(result)), expected)
                out = cupy.zeros((HEIGHT, WIDTH), cupy.float32)
                self.assertIs(live.match(*images, out), out)
                np.testing.assert_array_equal(cupy.asnumpy(out), expected)
                live.match(*images, out, stream=stream)
                np.testing.assert_array_equal(cupy.asnumpy(out), expected)

    def test_pytorch(self):
        try:
            import torch
        except ImportError as missing:
            self.skipTest(str(missing))
        left, right = pair(7, 3)
        expected, live = of_host(left, right), matcher(channels=3)
        images = [torch.from_numpy(image).cuda() for image in (left, right)]
        result = live.match(*images)
        np.testing.assert_array_equal(torch.from_dlpack(result).cpu().numpy(), expected)
        side = torch.cuda.Stream()
        late = torch.zeros_like(images[0])
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(10**8)
            late.copy_(images[0])
            result = live.match(late, images[1])  # on the default stream
        np.testing.assert_array_equal(torch.from_dlpack(result).cpu().numpy(), expected)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            out = torch.zeros((HEIGHT, WIDTH), dtype=torch.float32, device="cuda")
            live.match(*images, out, stream=side)
            np.testing.assert_array_equal(out.cpu().numpy(), expected)


if __name__ == "__main__":
    unittest.main()
