from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forsooth import ForsoothError
from forsooth.client.ledger import Drawn, Ledger
from forsooth.client.memory import Kept, Memory, MemoryFile

MEMORY = Memory(
    Ledger({"q": {"d/0": Drawn(0.1, "-12345678901234567"), "d/1": Drawn(2.0, None)}}),
    {
        "https://a/v1/campaigns/1": Kept("token", "design", "tasks", "{}", accepted=False),
        "https://a/v1/campaigns/2": Kept("token", "design", "tasks", None, accepted=True),
    },
)


def test_json_round_trip(tmp_path: Path) -> None:
    assert Memory.from_json(MEMORY.to_json()) == MEMORY
    file = MemoryFile(tmp_path)
    assert file.read() == Memory()
    with file.locked():
        file.write(MEMORY)
    assert file.read() == MEMORY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"forsooth": 2, "drawn": {}, "campaigns": {}}',
        '{"forsooth": 1, "drawn": {"q": {"d": {"epsilon": 0, "value": "1"}}}, "campaigns": {}}',
        '{"forsooth": 1, "drawn": {"q": {"d": {"epsilon": 1, "value": 1}}}, "campaigns": {}}',
        '{"forsooth": 1, "drawn": {}, "campaigns": {"a": {}}}',
        '{"forsooth": 1, "drawn": {}, "campaigns": 3}',
    ],
)
def test_what_is_no_memory_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "memory.json").write_text(text)
    with pytest.raises(ForsoothError):
        MemoryFile(tmp_path).read()


def test_the_ledger_of_version_0_1_0(tmp_path: Path) -> None:
    """Its campaigns were answered, at its ε; the reports cannot be had from it."""
    spent = '{"cap": 1e6, "spent": {"https://a/v1/campaigns/1#worker": 2.5}}'
    (tmp_path / "ledger.json").write_text(spent)
    memory = MemoryFile(tmp_path).read()
    assert memory.ledger.total == 2.5
    assert memory.campaigns["https://a/v1/campaigns/1"].body is None


def test_processes_that_race_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from forsooth.client.memory import Memory, MemoryFile;"
        "from forsooth.client.question import AskedCell;"
        "file = MemoryFile(Path(sys.argv[1]));\n"
        "with file.locked():\n"
        "    memory = file.read()\n"
        "    cell = AskedCell('', sys.argv[2], 'd', 0.5)\n"
        "    file.write(Memory(memory.ledger.spend({cell: '0'}), memory.campaigns))\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(number)])
        for number in range(4)
    ]
    assert [process.wait() for process in processes] == [0] * 4
    assert MemoryFile(tmp_path).read().ledger.total == 2.0
