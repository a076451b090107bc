"""Label Studio's JSON export as a long table: one row per annotation that answers something.

A task is Label Studio's task (its `id`), a worker is who completed the annotation, the answer is
the single choice or the rating. Cancelled (skipped) annotations and empty ones are NULL: they have
no row. Predictions are a model's, not a worker's, and are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forsooth.errors import ForsoothError
from forsooth.io import strict

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[str, str, str]
_ANSWERS = ("choices", "rating")


def rows(text: str | bytes) -> list[Row]:
    """`task, worker, label` of every answer in an export."""
    export = strict.loads(text)
    if not isinstance(export, list) or not all(isinstance(task, dict) for task in export):
        raise ForsoothError("a Label Studio export is a list of tasks; this is something else")
    controls: set[str] = set()
    try:
        found = [row for task in export for row in _rows_of_task(task, controls)]
    except (AttributeError, TypeError) as error:
        raise ForsoothError("an annotation is not as Label Studio writes it") from error
    if len(controls) > 1:
        raise ForsoothError(
            f"the annotations answer several questions ({', '.join(sorted(controls))}), each with "
            "a scale of its own: keep the results of one and make a campaign of each"
        )
    return found


def _rows_of_task(task: dict[str, Any], controls: set[str]) -> Iterator[Row]:
    if "id" not in task or not isinstance(task.get("annotations"), list):
        raise ForsoothError(
            "a task has no 'id' or no list of 'annotations': export as JSON, not as JSON-MIN"
        )
    name = str(task["id"])
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        for result in annotation.get("result") or ():
            if result.get("type") in _ANSWERS:
                controls.add(str(result.get("from_name")))
                yield name, _worker(annotation, name), _label(result, name)


def _worker(annotation: dict[str, Any], task: str) -> str:
    """A number, or where the export spells people out the number among the rest."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("id")
    if who is None:
        raise ForsoothError(f"task {task!r}: an annotation does not say who completed it")
    return str(who)


def _label(result: dict[str, Any], task: str) -> str:
    value = result.get("value", {}).get(result["type"])
    if isinstance(value, list):
        if len(value) != 1:
            raise ForsoothError(
                f"task {task!r}: {len(value)} choices at once; an answer is a single one"
            )
        (value,) = value
    if value is None:
        raise ForsoothError(f"task {task!r}: a result of type {result['type']!r} has no value")
    return str(value)
