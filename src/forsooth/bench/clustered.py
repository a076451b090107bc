"""What a cluster brings and costs: belief propagation over files, on one process and on two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsooth.bench.campaign_files import BenchCampaign, timed_inference
from forsooth.bench.measure import in_child
from forsooth.bench.rows import Quantity, Row, Target
from forsooth.bench.scale import FIVE, TASKS
from forsooth.inference.engines.dask import connect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from forsooth.bench.setting import BenchSetting

_PIECE = 2**21  # cells: enough pieces that two processes can share them evenly
_OVERHEAD, _SPEED_UP = Target("ratio", 1 / 1.2), Target("ratio", 1.6)


def cluster(setting: BenchSetting) -> Iterator[Row]:
    """The local engine, one Dask process, two; starting them is not counted."""
    campaign = BenchCampaign(setting.size(800_000, 5_000), TASKS, FIVE, _PIECE)
    path, warm = setting.folder / "reports.parquet", setting.folder / "warm.parquet"
    BenchCampaign(100, TASKS, FIVE).write(warm)
    campaign.write(path)
    here, _ = in_child(timed_inference, path, warm, "auto")
    local = Quantity(here["seconds"], "s")
    one, two = (Quantity(_on_processes(number, path, warm), "s") for number in (1, 2))
    path.unlink()
    what = f"belief propagation, {campaign.cells / 1e6:.0f}M cells from Parquet"
    yield Row(f"{what}, one Dask process", one, "the local engine", local, target=_OVERHEAD)
    yield Row(f"{what}, two Dask processes", two, "one Dask process", one, target=_SPEED_UP)


def _on_processes(number: int, path: Path, warm: Path) -> float:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, dashboard_address=None
        ) as processes,
        connect(processes.scheduler_address) as engine,
    ):
        return timed_inference(path, warm, "auto", engine)["seconds"]
