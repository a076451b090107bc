// Headings sort their tables; the only script of the page.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = head.classList.contains("number")
      ? (a, b) => value(a) - value(b)
      : (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
    const rows = [...table.tBodies[0].rows].sort(compare);
    table.tBodies[0].append(...(falling ? rows.reverse() : rows));
  }));
}
