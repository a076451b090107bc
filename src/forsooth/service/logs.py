"""Logs: one JSON object a line, on standard error; no address, no payload, no worker's request.

A line per report would keep the time of its arrival, so there is none, and no line for an inference
either, which reports bring about. What is logged: starting and stopping, what requesters do, new
designs, and failures; of times the hour.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """A record and its extra fields as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="hours"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info and record.exc_info[0]:
            kind, _, trace = record.exc_info  # the message may quote what somebody sent
            line["traceback"] = [kind.__name__, *traceback.format_tb(trace)]
        return json.dumps(line, default=str)


def configure() -> None:
    """Let everything that is logged in this process go out like that."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn.access").disabled = True
    logging.getLogger("alembic").setLevel(logging.WARNING)
