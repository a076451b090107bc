"""Worker processes never see ctrl-C, and end with the work they were started for."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from forsooth.processes import Pool


def _blocks_interrupts() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(sys.platform == "win32", reason="no signal masks")
def test_processes_do_not_see_ctrl_c_and_this_one_does() -> None:
    with Pool(1) as pool:
        assert pool.submit(_blocks_interrupts).result() is True
        assert list(pool.map(abs, (-1, 2))) == [1, 2]
    assert not _blocks_interrupts()


def test_an_exception_ends_the_work_at_once() -> None:
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Pool(2) as pool:
        waiting = [pool.submit(time.sleep, 60) for _ in range(4)]
        pool.submit(abs, 1)
        time.sleep(1)
        raise KeyboardInterrupt
    assert time.monotonic() - start < 20
    assert all(each.done() for each in waiting)
