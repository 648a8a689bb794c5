#!/usr/bin/env python3
"""A job of Ray Data beside the same work in processes without Ray: the same bytes, and images a second for each core.

    MIP_PYTHON_RELEASE=1 bash .ci/python.sh
    target/python-venv/bin/python -m pip install 'ray[data]'
    target/python-venv/bin/python benchmarks/python/ray_data.py [--images 960] [--workers 2] [--rounds 3]

Two jobs, over batches of 32: `files` decodes JPEG files of 1080p and makes tensors of w3 (3, 224, 224) of them; `arrays` makes such tensors of
500x375 pixels that are in the object store already. Both keep of each tensor what a test needs, a checksum, so that what is measured is the
pipeline and how images get to it, not how results are stored. Locally one process does the work bound to one core, and then as many
processes as Ray has workers, each bound to a core of its own: on a machine whose cores share caches and memory the second is what
Ray can be compared with. Local runs and Ray take turns; the best of the rounds counts. Blocks of Ray hold four batches: what it does for each block costs as much as some
batches of `arrays` do.
"""

import argparse
import logging
import multiprocessing
import os
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
from peers import draw

LINE = (
    "resize shorter_side=256 ! crop width=224 height=224 center=true "
    "! normalize mean=[0.485,0.456,0.406] std=[0.229,0.224,0.225] ! layout to=chw"
)
BATCH = 32


def arrays(count):
    return np.random.default_rng(1).integers(0, 256, (count, 375, 500, 3), dtype=np.uint8)


class Worker:
    """One core's work: what an actor of Ray does with a batch, and a local process too."""

    def __init__(self):
        from mini_image_pipe.ray import PipelineActor

        self.actor = PipelineActor(LINE, column="image", output="tensor", device="cpu", max_batch=BATCH)

    def __call__(self, batch):
        if "path" in batch:
            batch = {"id": batch["id"], "image": [Path(path).read_bytes() for path in batch["path"]]}
        tensors = self.actor(batch)["tensor"]
        return {"id": batch["id"], "sum": np.array([zlib.crc32(tensor) for tensor in tensors], np.int64)}


def local(core, job, first, ready, go, results):
    """A process without Ray: its part of the images, batch by batch."""
    os.sched_setaffinity(0, {core})
    count, part, folder = job
    ids = list(range(first, count, part))
    source = None if folder else arrays(count)[first::part]
    worker, sums = Worker(), {}
    batches = []
    for start in range(0, len(ids), BATCH):
        own = ids[start : start + BATCH]
        named = {"path": [f"{folder}/{number:03}.jpg" for number in own]} if folder else {"image": source[start : start + BATCH]}
        batches.append({"id": own, **named})
    worker(batches[0])  # plans
    ready.wait()
    go.wait()
    begin = time.perf_counter()
    for batch in batches:
        done = worker(batch)
        sums.update(zip(done["id"], done["sum"].tolist()))
    results.put((time.perf_counter() - begin, sums))


def run_local(count, folder, cores):
    """Images a second of as many processes as there are cores, and the checksums."""
    ready, go, results = multiprocessing.Barrier(len(cores) + 1), multiprocessing.Event(), multiprocessing.Queue()
    job = (count, len(cores), folder)
    processes = [multiprocessing.Process(target=local, args=(core, job, first, ready, go, results)) for first, core in enumerate(cores)]
    for process in processes:
        process.start()
    ready.wait()
    go.set()
    found = [results.get() for _ in processes]
    for process in processes:
        process.join()
    return count / max(seconds for seconds, _ in found), {number: one for _, sums in found for number, one in sums.items()}


class Timed(Worker):
    """Notes when each batch began and ended."""

    def __call__(self, batch):
        begin = time.monotonic()
        done = super().__call__(batch)
        count = len(done["id"])
        return {**done, "begin": np.full(count, begin), "end": np.full(count, time.monotonic()), "pid": np.full(count, os.getpid())}


def run_ray(ray, dataset, workers):
    """Images a second once every actor has made its first batch, and the checksums: starting processes and planning are left out, as above."""
    pool = ray.data.ActorPoolStrategy(size=workers)
    rows = dataset.map_batches(Timed, batch_size=BATCH, num_cpus=1, compute=pool).take_all()
    workers_first = [min(row["end"] for row in rows if row["pid"] == pid) for pid in {row["pid"] for row in rows}]
    if len(workers_first) < workers:
        raise SystemExit(f"{len(workers_first)} of {workers} actors had work: take more --images")
    start, end = max(workers_first), max(row["end"] for row in rows)
    # Of a batch that was under way at the start, the part behind it.
    inside = sum(row["end"] - max(row["begin"], start) for row in rows if row["end"] > start) / BATCH / (end - start) / workers
    done = sum(1 - max(0, start - row["begin"]) / (row["end"] - row["begin"]) for row in rows if row["end"] > start)
    print(f"  Ray: {inside:.0%} of the actors' time is inside the pipeline", flush=True)
    return done / (end - start), {row["id"]: row["sum"] for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=960)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        import ray
        import ray.data
    except ImportError as missing:
        print(f"skipped: {missing}; pip install 'ray[data]'")
        return
    multiprocessing.set_start_method("spawn")
    cores = sorted(os.sched_getaffinity(0))[: options.workers]
    ray.init(num_cpus=options.workers, object_store_memory=2_000_000_000, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    print(f"Ray {ray.__version__}, {options.workers} workers, {options.images} images, best of {options.rounds} rounds in turns; images a second")
    with tempfile.TemporaryDirectory(prefix="ray-data-") as named:
        draw(named, options.images)
        for job in ("files", "arrays"):
            folder = named if job == "files" else None
            blocks = max(options.images // (4 * BATCH), 2 * options.workers)  # an actor is sent one at a time
            if folder:
                rows = [{"id": number, "path": f"{folder}/{number:03}.jpg"} for number in range(options.images)]
                dataset = ray.data.from_items(rows, override_num_blocks=blocks)
            else:
                pixels = [{"id": number, "image": image} for number, image in enumerate(arrays(options.images))]
                dataset = ray.data.from_items(pixels, override_num_blocks=blocks).materialize()
            best = {}
            for _ in range(options.rounds):
                for name, run in (
                    ("one process", lambda: run_local(options.images, folder, cores[:1])),
                    ("processes", lambda: run_local(options.images, folder, cores)),
                    ("Ray", lambda: run_ray(ray, dataset, options.workers)),
                ):
                    speed, sums = run()
                    expected = best.setdefault("sums", sums)
                    if sums != expected:
                        raise SystemExit(f"{job}: {name} gives other bytes")
                    best[name] = max(best.get(name, 0), speed)
            each = {name: best[name] / (1 if name == "one process" else options.workers) for name in best if name != "sums"}
            print(f"{job:8} a core: " + ", ".join(f"{name} {speed:.1f}" for name, speed in each.items()), end="")
            print(f"; Ray is {each['Ray'] / each['processes']:.2f} of processes, {each['Ray'] / each['one process']:.2f} of one; the same bytes", flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main()
