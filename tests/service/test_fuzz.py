"""Schemathesis reads the documentation and sends what it allows, and what it does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.service.harness import BLANK, Server

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "ignored_auth",
)


def test_nothing_that_is_sent_ends_in_a_5xx(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, rate_requester=10_000).start()
    made = server.make(invitations=1)
    assert made.send(made.tokens[0], BLANK).status == 201
    made.truths(1)
    known = {"path.campaign_id": made.id, "path.digest": made.view["design"]}
    lines = ["[parameters]", *(f'"{name}" = "{value}"' for name, value in known.items())]
    (tmp_path / "schemathesis.toml").write_text("\n".join(lines))
    command = Path(sys.executable).with_name("schemathesis")
    done = subprocess.run(
        [
            *(command, "run", f"{server.url}/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {server.key}"),
            *("--checks", ",".join(CHECKS)),
            *("--phases", "examples,fuzzing"),
            *("--max-examples", "10", "--seed", "1", "--continue-on-failure"),
            *("--report", "har", "--report-dir", tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    server.stop()
    assert done.returncode == 0, done.stdout[-6000:]
    reached = {
        (entry["request"]["method"], entry["request"]["url"].split("/")[-1].split("?")[0])
        for path in tmp_path.glob("har*")
        for entry in json.loads(path.read_text())["log"]["entries"]
        if entry["response"]["status"] < 300
    }
    assert reached >= {
        *(("POST", name) for name in ("campaigns", "close", "invitations")),
        *(("GET", name) for name in ("status", "truths", "truths.csv", "reports.parquet")),
    }


def test_the_documentation_names_every_route(sqlite_server: Server) -> None:
    document = sqlite_server.call("GET", "/v1/openapi.json").json
    paths = {path.removeprefix("/v1/campaigns/{campaign_id}") for path in document["paths"]}
    assert paths >= {"", "/reports", "/designs/{digest}", "/status", "/close", "/invitations"}
    assert paths >= {"/check", "/order", "/open", "/pause", "/delete", "/restore", "/codes"}
    assert paths >= {"/invitations/check", "/invitations/revoke"}
    assert paths >= {"/truths", "/truths.csv", "/reports.parquet", "/report.html", "/v1/campaigns"}
    assert "HTTPBearer" in json.dumps(document["components"]["securitySchemes"])
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["description"]
