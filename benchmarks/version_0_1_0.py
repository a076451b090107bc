"""Version 0.1.0 beside the code under test: both read the same reports.

    with Old() as old:
        result = old.infer(reports)
        print(result.error(truth), result.coverage(truth), result.seconds)

    python -m benchmarks.version_0_1_0 [--own-environment]

The source of version 0.1.0 is extracted from its commit into `benchmarks/.cache` and runs in a
child process, which stays until the end so that its kernels compile once. It uses the packages of
this interpreter, or, with an environment of its own, those of the commit's requirements.lock.
Results are cached by a hash of everything that was sent. As a command it makes the source and the
environment ready.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from forsooth import Answers, ForsoothError, Mechanism, Reports, Scale, infer

Part = Answers | Reports
Data = Part | Sequence[Reports]
Array = NDArray[np.float64]
Meta = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

COMMIT = "589f163"
REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = Path(__file__).resolve().parent / ".cache"
FOLDER = CACHE / "version-0.1.0"
RESULTS = CACHE / "results-0.1.0"
_SERVE = "--serve"
_LENGTH = struct.Struct("<Q")  # bytes of the message that follows
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, eq=False)
class Result:
    """Estimates and 90 % intervals of version 0.1.0, and its seconds of processor time.

    `constant_as_good` is its probability that one constant for all tasks does as well: NaN for
    methods without a posterior.
    """

    estimate: Array
    low: Array
    high: Array
    seconds: float
    constant_as_good: float

    def error(self, truth: Array) -> float:
        """MAE over the tasks whose truth is known (not NaN)."""
        known = ~np.isnan(truth)
        return float(np.abs(self.estimate - truth)[known].mean())

    def coverage(self, truth: Array) -> float:
        """The share of the known truths that lie in their intervals."""
        known, rounding = ~np.isnan(truth), 1e-9 * max(1.0, float(np.nanmax(np.abs(truth))))
        inside = (self.low - rounding <= truth) & (truth <= self.high + rounding)
        return float(inside[known].mean())


@dataclass
class Old:
    """Version 0.1.0 in a process of its own; use it in a `with` block."""

    own_environment: bool = False
    cached: bool = True
    _child: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the process; the next request starts another."""
        child, self._child = self._child, None
        if child and child.stdin and child.stdout:
            child.stdin.close()
            child.wait()
            child.stdout.close()

    def infer(self, data: Data, method: str = "posterior", *, unordered: bool = False) -> Result:
        """What version 0.1.0 infers from reports or answers."""
        options = {"unordered": True} if unordered else {}
        meta = {"work": "infer", "method": method, "options": options}
        return self._ask(*_packed(data, meta))

    def adaptive(self, answers: Answers, epsilon: float, seed: int) -> Result:
        """What a whole adaptive campaign of version 0.1.0, with its own second table, infers."""
        meta = {"work": "adaptive", "epsilon": epsilon, "seed": seed}
        return self._ask(*_packed(answers, meta))

    def _ask(self, meta: Meta, arrays: Arrays) -> Result:
        path = RESULTS / f"{_digest(meta, arrays)}.npz"
        if self.cached and path.exists():
            return _result(*_decoded(path.read_bytes()))
        answer = self._exchange(_encoded(meta, arrays))
        found, values = _decoded(answer)
        if "error" in found:
            raise ForsoothError(f"version 0.1.0 failed:\n{found['error']}")
        if self.cached:
            _write(path, answer)
        return _result(found, values)

    def _exchange(self, message: bytes) -> bytes:
        self._child = self._child or _started(own_environment=self.own_environment)
        assert self._child.stdin
        assert self._child.stdout
        _send(self._child.stdin, message)
        answer = _receive(self._child.stdout)
        if answer is None:
            raise ForsoothError("the process of version 0.1.0 has ended; its messages say why")
        return answer


def ready(*, own_environment: bool = False) -> tuple[Path, Path]:
    """The folder of the extracted source, and the interpreter that is to run it."""
    source = FOLDER / "src"
    if not source.exists():
        _extract()
    if not own_environment:
        return source, Path(sys.executable)
    python = FOLDER / "venv" / "bin" / "python"
    installed = FOLDER / "venv" / ".ready"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "venv"], check=True)
        packages = ["--require-hashes", "-r", str(FOLDER / "requirements.lock")]
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        installed.touch()
    return source, python


def _extract() -> None:
    """Unpack next to the final place and rename, so that the folder is whole or not there."""
    wanted = ["git", "-C", str(REPOSITORY), "archive", COMMIT, "src", "requirements.lock"]
    done = subprocess.run(wanted, capture_output=True, check=False)
    if done.returncode:
        raise ForsoothError(
            f"commit {COMMIT} (version 0.1.0) cannot be read: {done.stderr.decode().strip()}. "
            "The whole history is needed: git fetch --unshallow"
        )
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        FOLDER.mkdir(exist_ok=True)
        for name in ("requirements.lock", "src"):  # src last: it says that all is there
            target = FOLDER / name
            if not target.exists():
                (Path(folder) / name).rename(target)


def _started(*, own_environment: bool) -> subprocess.Popen[bytes]:
    source, python = ready(own_environment=own_environment)
    environment = os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": str(source)}
    return subprocess.Popen(
        [python, Path(__file__), _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )


# Messages: a length, then arrays and one JSON document in numpy's npz format


def _packed(data: Data, meta: Meta) -> tuple[Meta, Arrays]:
    """Reports and answers as plain arrays, and a document that says how to put them together."""
    parts = [data] if isinstance(data, Answers | Reports) else list(data)
    described: list[Meta] = []
    arrays: Arrays = {}
    for number, part in enumerate(parts):
        names = {"workers": list(part.workers), "tasks": list(part.tasks)}
        if isinstance(part, Answers):
            described.append({"scale": list(part.scale.labels), **names})
            held: Arrays = {"worker": part.worker, "task": part.task, "code": part.code}
        else:
            described.append({"mechanism": part.mechanism.to_json(), **names})
            held = {"values": part.values}
            if part.answered is not None:
                held |= {"worker": part.answered[0], "task": part.answered[1]}
        arrays |= {f"{number} {name}": array for name, array in held.items()}
    return meta | {"parts": described}, arrays


def _unpacked(meta: Meta, arrays: Arrays) -> list[Any]:
    parts: list[Part] = []
    for number, part in enumerate(meta["parts"]):
        held = {
            name.partition(" ")[2]: array
            for name, array in arrays.items()
            if name.startswith(f"{number} ")
        }
        workers, tasks = tuple(part["workers"]), tuple(part["tasks"])
        if "scale" in part:
            columns = held["worker"], held["task"], held["code"]
            parts.append(Answers(Scale(tuple(part["scale"])), workers, tasks, *columns))
        else:
            cells = (held["worker"], held["task"]) if "worker" in held else None
            mechanism = Mechanism.from_json(part["mechanism"])
            parts.append(Reports(mechanism, tasks, workers, held["values"], cells))
    return parts


def _encoded(meta: Meta, arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    document = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    np.savez(buffer, allow_pickle=False, meta=document, **arrays)
    return buffer.getvalue()


def _decoded(message: bytes) -> tuple[Meta, Arrays]:
    with np.load(io.BytesIO(message), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    return json.loads(arrays.pop("meta").tobytes()), arrays


def _digest(meta: Meta, arrays: Arrays) -> str:
    """A hash of everything that the result depends on."""
    found = hashlib.sha256(json.dumps([COMMIT, meta], sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _result(meta: Meta, arrays: Arrays) -> Result:
    columns = arrays["estimate"], arrays["low"], arrays["high"]
    return Result(*columns, meta["seconds"], meta["constant_as_good"])


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: several processes share the cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None at the end of the stream."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(length)
    return stream.read(size)


# What runs in the child, where `forsooth` is version 0.1.0


def _serve() -> None:
    """Answer requests until the parent closes the stream."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints must not get between the messages
    while (message := _receive(sys.stdin.buffer)) is not None:
        try:
            found = _answer(*_decoded(message))
        except Exception:
            found = _encoded({"error": traceback.format_exc()}, {})
        _send(answers, found)


def _answer(meta: Meta, arrays: Arrays) -> bytes:
    parts = _unpacked(meta, arrays)
    method, options = meta.get("method", "posterior"), meta.get("options", {})
    start = time.process_time()
    if meta["work"] == "adaptive":
        (answers,) = parts
        adaptive_reports = import_module("forsooth.adaptive").adaptive_reports  # its place then
        parts = [*adaptive_reports(answers, meta["epsilon"], simulation_seed=meta["seed"])]
    truths = infer(parts, method, **options)
    seconds = time.process_time() - start
    posterior: Any = truths.posterior
    constant = posterior.constant_as_good if posterior else float("nan")
    columns: Arrays = {"estimate": truths.estimate, "low": truths.low, "high": truths.high}
    return _encoded({"seconds": seconds, "constant_as_good": constant}, columns)


def main() -> None:
    """Make version 0.1.0 ready, or serve it to the parent process."""
    if _SERVE in sys.argv:
        _serve()
        return
    parser = argparse.ArgumentParser(description="make version 0.1.0 ready beside this one")
    parser.add_argument("--own-environment", action="store_true")
    source, python = ready(own_environment=parser.parse_args().own_environment)
    print(f"{source}, run by {python}")


if __name__ == "__main__":
    main()
