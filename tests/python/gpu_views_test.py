"""gpu_views_test.py: views in the memory of a GPU give what the same views in host memory give, bit for bit, as gpu_images_test.py has it
of pairs."""

import ctypes
import subprocess
import sys
import unittest

from gpu_images_test import DEVICE, Memory, delay, downloaded, driver, np, stream  # first: it skips without a GPU

import reconstruct

CAMERA = (200, 200, 240, 180)


def views(count=3, channels=None):
    """A textured plane at z = 4 by cameras beside each other, on the host."""
    random = np.random.default_rng(30)
    wide = np.kron(random.integers(0, 256, (180, 260), np.uint8), np.ones((2, 2), np.uint8))
    if channels:
        wide = np.stack([wide, 255 - wide // 2, wide * 7], 2)
    poses = [np.hstack([np.eye(3), [[-0.2 * i], [0], [0]]]) for i in range(count)]
    return [reconstruct.View(wide[:, 10 * i:10 * i + 480].copy(), CAMERA, pose) for i, pose in enumerate(poses)]


def on_gpu(view, padding=0, stream=None):
    return view._replace(image=Memory(view.image, padding, stream), mask=None if view.mask is None else Memory(view.mask, padding))


def zeros(padding=0):
    return [Memory(np.zeros(shape, np.float32), padding) for shape in ((360, 480), (360, 480, 3), (360, 480))]


class Sweeps(unittest.TestCase):
    BOUNDS = {"depth_min": 1.5, "depth_max": 12}

    def assert_same(self, found, expected):
        self.assertGreater(np.isfinite(expected).mean(), 0.5)
        np.testing.assert_array_equal(np.ascontiguousarray(found).view(np.uint32), np.ascontiguousarray(expected).view(np.uint32))

    def test_results_are_those_of_host_memory(self):
        for options in ({}, self.BOUNDS, {"planes": 48, "optimizer": "sgm"}):
            for channels in (None, 3):
                reference, *sources = views(3, channels)
                mask = np.ones((360, 480), np.uint8)
                mask[:, 100:120] = 0
                for given in (reference, reference._replace(mask=mask)):
                    with self.subTest(options=options, channels=channels, mask=given.mask is not None):
                        expected = reconstruct.sweep(given, sources, DEVICE, **options)
                        live = reconstruct.Sweeper(480, 360, 2, DEVICE, channels=channels or 1, **options)
                        maps = live.sweep(on_gpu(given), [on_gpu(it) for it in sources])
                        for found, right in zip(maps, expected):
                            self.assert_same(downloaded(found), right)
                        out = zeros(padding=6)
                        again = live.sweep(on_gpu(given, 5), [on_gpu(it, 24) for it in sources], out)
                        driver("cuCtxSynchronize")
                        for found, target, right in zip(again, out, expected):
                            self.assertIs(found, target)
                            self.assert_same(target.numpy(), right)
                            self.assertTrue((target.padded[:, target.columns:] == -1).all())

    def test_bounds_of_a_call(self):
        reference, source = views(2)
        live = reconstruct.Sweeper(480, 360, 1, DEVICE)
        maps = live.sweep(on_gpu(reference), [on_gpu(source)], **self.BOUNDS)
        self.assert_same(downloaded(maps.depth), reconstruct.sweep(reference, [source], DEVICE, **self.BOUNDS).depth)
        out = zeros()
        self.assertEqual(live.sweep(on_gpu(reference), [on_gpu(source)], (out[0], None, None)).normal, None)
        driver("cuCtxSynchronize")
        self.assert_same(out[0].numpy(), reconstruct.sweep(reference, [source], DEVICE).depth)

    def test_images_of_other_streams_are_waited_for(self):
        reference, source = views(2)
        live = reconstruct.Sweeper(480, 360, 1, DEVICE, **self.BOUNDS)
        expected = reconstruct.sweep(reference, [source], DEVICE, **self.BOUNDS)
        there, other, out = on_gpu(reference), on_gpu(source), zeros()
        live.sweep(there, [other], out)
        camera, work = stream(), stream()
        late = Memory(np.zeros_like(reference.image), stream=camera)
        driver("cuCtxSynchronize")
        delay(camera)
        late.queue_copy(there.image.address, camera)
        maps = live.sweep(there._replace(image=late), [other], stream=work)
        self.assertEqual(maps.normal.__cuda_array_interface__["stream"], work)
        for found, right in zip(maps, expected):
            self.assert_same(downloaded(found), right)

    def test_a_hundred_calls_leave_nothing(self):
        reference, *sources = views(3)
        live = reconstruct.Sweeper(480, 360, 2, DEVICE)
        given, others, out = on_gpu(reference), [on_gpu(it) for it in sources], zeros()

        def free_after(calls):
            for i in range(calls):
                live.sweep(given, others[:1 + i % 2], out, **(self.BOUNDS if i % 3 else {}))
                live.sweep(given, others).normal.__dlpack__()
            driver("cuCtxSynchronize")
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            driver("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
            return free.value

        before = free_after(6)
        self.assertLess(before - free_after(100), 4 << 20)  # of the driver

    def test_host_memory_behind_the_interface_is_refused(self):
        reference, source = views(2)
        live = reconstruct.Sweeper(480, 360, 1, DEVICE)
        image = reference.image
        host = type("Host", (), {"__cuda_array_interface__": {"shape": image.shape, "typestr": "|u1", "strides": None, "version": 3,
                                                             "data": (image.ctypes.data, False)}})()
        with self.assertRaisesRegex(reconstruct.UsageError, "the reference is not in the memory of a GPU"):
            live.sweep(reference._replace(image=host), [on_gpu(source)])
        with self.assertRaisesRegex(reconstruct.UsageError, "source 0 has 100x360 pixels; the sweeper is for 480x360"):
            live.sweep(on_gpu(reference), [on_gpu(source._replace(image=source.image[:, :100].copy()))])
        with self.assertRaisesRegex(reconstruct.UsageError, "2 sources; the sweeper takes 1 to 1"):
            live.sweep(on_gpu(reference), [on_gpu(source)] * 2)


class Contexts(unittest.TestCase):
    def test_a_thread_gets_no_context_on_another_gpu(self):
        count = ctypes.c_int()
        driver("cuDeviceGetCount", ctypes.byref(count))
        if count.value < 2:
            self.skipTest("there is one GPU")
        program = """
import ctypes, threading
import numpy as np
import reconstruct
device = reconstruct.Device("cuda:1")
image = np.random.default_rng(1).integers(0, 255, (120, 200), np.uint8)
work = lambda: reconstruct.match(image, np.roll(image, -5, 1), 32, device=device)
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
driver, flags, active = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint(), ctypes.c_int()
for gpu in (0, 1):
    assert driver.cuDevicePrimaryCtxGetState(gpu, ctypes.byref(flags), ctypes.byref(active)) == 0
    print(active.value)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["0", "1"], "contexts on cuda:0 and cuda:1")


class OtherLibraries(unittest.TestCase):
    def test_sweeps_of_cupy(self):
        try:
            import cupy
        except ImportError as missing:
            self.skipTest(str(missing))
        reference, *sources = views(3)
        expected = reconstruct.sweep(reference, sources, DEVICE)
        live = reconstruct.Sweeper(480, 360, 2, DEVICE)
        with cupy.cuda.Stream(non_blocking=True):
            given, *others = (it._replace(image=cupy.asarray(it.image)) for it in (reference, *sources))
            maps = live.sweep(given, others)
            for found, right in zip(maps, expected):
                np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(found)), right)

    def test_sweeps_of_pytorch(self):
        try:
            import torch
        except ImportError as missing:
            self.skipTest(str(missing))
        reference, *sources = views(3, 3)
        expected = reconstruct.sweep(reference, sources, DEVICE)
        live = reconstruct.Sweeper(480, 360, 2, DEVICE, channels=3)
        given, *others = (it._replace(image=torch.from_numpy(it.image).cuda()) for it in (reference, *sources))
        normal = torch.zeros((360, 480, 3), dtype=torch.float32, device="cuda")
        depth = torch.zeros((360, 480), dtype=torch.float32, device="cuda")
        live.sweep(given, others, (depth, normal, None), stream=torch.cuda.current_stream())
        np.testing.assert_array_equal(depth.cpu().numpy(), expected.depth)
        np.testing.assert_array_equal(normal.cpu().numpy(), expected.normal)


if __name__ == "__main__":
    unittest.main()
