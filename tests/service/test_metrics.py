"""Metrics: what an operator may know, on an address of their own; nothing about single workers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from forsooth import ForsoothError
from forsooth.client.tokens import new_token
from forsooth.service.metrics import STEP, _in_steps
from forsooth.service.settings import Settings
from tests.service.harness import BLANK, Made, Server, free_port, wait_for
from tests.service.test_operations import serve

BATCH = 10


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A service of two processes, and the address of its metrics."""
    folder, address = tmp_path_factory.mktemp("metrics"), f"127.0.0.1:{free_port()}"
    settings = {"batch": BATCH, "metrics": address}
    server = Server(f"sqlite:///{folder}/x.db", folder, processes=2, **settings).start()
    yield server, f"http://{address}/metrics"
    server.stop()


def read(address: str) -> dict[str, float]:
    """All samples, by name and labels."""
    with urlopen(address) as response:
        text = response.read().decode()
    families = text_string_to_metric_families(text)
    samples = (sample for family in families for sample in family.samples)
    return {" ".join((each.name, *each.labels.values())): each.value for each in samples}


def send(made: Made, count: int) -> None:
    for _ in range(count):
        assert made.send(f"open-{new_token()}", BLANK).status == 201


def test_no_number_changes_with_a_single_report(watched: tuple[Server, str]) -> None:
    server, address = watched
    made = server.make(open=True)
    send(made, 1)
    before = read(address)
    assert before["forsooth_campaigns"] == before["forsooth_requesters"] == 1
    assert before["forsooth_ready"] == 1
    assert before["forsooth_reports"] == 0
    send(made, BATCH - 2)
    assert read(address) == before
    send(made, 1)
    assert read(address) == before | {"forsooth_reports": BATCH}


def test_workers_requests_are_counted_in_steps_over_all_processes(
    watched: tuple[Server, str],
) -> None:
    server, address = watched
    missing = "forsooth_requests_total public 404"
    for _ in range(STEP - 1):
        assert server.call("GET", "/v1/campaigns/none").status == 404
    assert missing not in read(address)
    server.call("GET", "/v1/campaigns/none")
    wait_for(lambda: read(address).get(missing) == STEP, 10)
    of_requesters = "forsooth_requests_total requester 200"
    before = read(address).get(of_requesters, 0)
    assert server.as_requester("GET", "").status == 200
    wait_for(lambda: read(address).get(of_requesters) == before + 1, 10)


def test_nothing_else_is_measured(watched: tuple[Server, str]) -> None:
    """Processor time, memory and open files change when somebody reports."""
    server, address = watched
    server.make(title="Delicate")
    with urlopen(address) as response:
        text = response.read().decode()
    names = set(re.findall(r"^# TYPE (\w+)", text, re.M))
    assert names == {
        f"forsooth_{name}"
        for name in ("requests_total", "info", "ready", "requesters", "campaigns", "reports")
    }
    assert set(re.findall(r"(\w+)=", text)) == {"kind", "status", "version"}


def test_they_are_not_on_the_services_own_address(
    watched: tuple[Server, str], sqlite_server: Server
) -> None:
    for server in (watched[0], sqlite_server):
        assert server.call("GET", "/metrics").status == 404


@pytest.mark.parametrize(
    ("kind", "status", "shown"),
    [("public", "201", 200), ("public", "503", 299), ("requester", "200", 299)],
)
def test_only_failures_and_requesters_are_counted_one_by_one(
    kind: str, status: str, shown: int
) -> None:
    sample = Sample("forsooth_requests_total", {"kind": kind, "status": status}, 299.0)
    assert _in_steps(sample).value == shown


@pytest.mark.parametrize("address", ["9464", ":9464", "host:", "host:0", "host:65536", "host:x"])
def test_a_bad_address_is_refused(address: str) -> None:
    with pytest.raises(ForsoothError, match="FORSOOTH_METRICS must be HOST:PORT"):
        Settings.from_environment({"FORSOOTH_METRICS": address})


def test_an_address_in_brackets() -> None:
    found = Settings.from_environment({"FORSOOTH_METRICS": "[::1]:9464"})
    assert found.metrics_address == ("::1", 9464)


def test_an_address_that_is_taken(watched: tuple[Server, str], tmp_path: Path) -> None:
    taken = watched[1].split("/")[2]
    done = serve(
        "--port", free_port(), "--database", f"sqlite:///{tmp_path}/y.db", FORSOOTH_METRICS=taken
    )
    assert done.returncode == 2
    assert "choose another FORSOOTH_METRICS" in done.stderr
