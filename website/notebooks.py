"""Notebooks: a .ipynb in docs/ becomes a page with its outputs and figures, and can be downloaded.

The outputs are those that the notebook has. `python -m website.notebooks` runs it and writes them;
a test runs it again and compares.
"""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ENDING = ".ipynb"
TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.ipynb"
_DOWNLOAD = '<p><a href="{name}" download>Download this page as a notebook</a></p>'
_TERMINAL = re.compile(r"\x1b\[[0-9;]*m")  # colours


class NotebookFile(File):
    """A notebook that mkdocs takes for a page."""

    def is_documentation_page(self) -> bool:
        """Yes, although it does not end in .md."""
        return True


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with all files of docs/."""
    for file in list(files):
        if file.src_uri.endswith(ENDING):
            files.remove(file)
            files.append(
                NotebookFile(
                    file.src_uri, config.docs_dir, config.site_dir, config.use_directory_urls
                )
            )
    return files


def on_page_read_source(page: Page, **_: Any) -> str | None:
    """Called by mkdocs for the Markdown of every page; None for those that have their own."""
    if not page.file.src_uri.endswith(ENDING):
        return None
    return markdown(read(Path(str(page.file.abs_src_path)))) + _DOWNLOAD.format(
        name=Path(page.file.src_uri).name
    )


def on_post_build(config: MkDocsConfig) -> None:
    """Called by mkdocs at the end: the notebooks themselves, to download."""
    for path in Path(config.docs_dir).rglob(f"*{ENDING}"):
        shutil.copy(path, Path(config.site_dir) / path.relative_to(config.docs_dir))


def read(path: Path) -> dict[str, Any]:
    """The notebook, which is JSON."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def markdown(notebook: dict[str, Any]) -> str:
    """The whole notebook as Markdown with pieces of HTML."""
    return "\n\n".join(part for cell in notebook["cells"] for part in _cell(cell)) + "\n\n"


def _cell(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [f"```python\n{source}\n```", *map(_output, cell["outputs"])]


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _text("".join(output["text"]))
    if output["output_type"] not in ("display_data", "execute_result"):
        raise ValueError(f"the notebook has an output that is no result: {output}")
    data = {kind: "".join(content) for kind, content in output["data"].items()}
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        words = html.escape(data.get("text/plain", "figure").strip("<>"), quote=True)
        return f'<img class="output" alt="{words}" src="data:image/png;base64,{picture}">'
    if "text/html" in data:
        return f'<div class="output">{_plain_tables(data["text/html"])}</div>'
    return _text(data["text/plain"])


def _text(text: str) -> str:
    plain = html.escape(_TERMINAL.sub("", text.rstrip("\n")), quote=False)
    return f'<pre class="output"><code>{plain}</code></pre>'


def _plain_tables(code: str) -> str:
    """Tables without their own style, so that they look like those of the site; one line."""
    code = re.sub(r"<style.*?</style>", "", code, flags=re.S)
    code = re.sub(r"<(table|tr|th|td)\b[^>]*>", r"<\1>", code)
    return re.sub(r"\s*\n\s*", " ", code)


def execute(path: Path) -> dict[str, Any]:
    """The notebook with the outputs of running it now, in a folder of its own."""
    import tempfile

    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    found: dict[str, Any] = json.loads(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    return found


if __name__ == "__main__":
    written = json.dumps(execute(TUTORIAL), ensure_ascii=False, indent=1)
    TUTORIAL.write_text(f"{written}\n", encoding="utf-8")
