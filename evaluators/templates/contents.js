"use strict";
// Search, filter, sort and pages of the table below. It reads the cells that stand here and moves rows; nothing else.
const body = document.querySelector("tbody");
const rows = Array.from(body.rows);
const words = rows.map((row) => row.textContent.toLowerCase());
const controls = document.getElementById("controls");
const search = document.getElementById("search");
const ending = document.getElementById("ending");
const outcome = document.getElementById("outcome");
const count = document.getElementById("count");
const SIZE = 100;
let order = rows.map((_, place) => place);
let page = 0;

function wanted(place) {
  const row = rows[place];
  const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  return asked.every((word) => words[place].includes(word))
    && (!ending.value || row.dataset.ending === ending.value)
    && (!outcome.value || row.dataset.outcome === outcome.value);
}

function show() {
  const found = order.filter(wanted);
  const last = Math.max(0, Math.ceil(found.length / SIZE) - 1);
  page = Math.min(page, last);
  const here = found.slice(page * SIZE, (page + 1) * SIZE);
  body.replaceChildren(...here.map((place) => rows[place]));
  count.textContent = found.length
    ? `${page * SIZE + 1} to ${page * SIZE + here.length} of ${found.length} found, ${rows.length} on this page`
    : `none of ${rows.length} found`;
  document.getElementById("back").disabled = page === 0;
  document.getElementById("on").disabled = page === last;
}

function sorted(column, button) {
  const up = button.getAttribute("aria-sort") !== "ascending";
  document.querySelectorAll("thead th").forEach((head) => head.removeAttribute("aria-sort"));
  button.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (place) => rows[place].cells[column].dataset.v ?? rows[place].cells[column].textContent;
  order.sort((one, two) => {
    const a = value(one), b = value(two);
    if (a === "" || b === "") return (a === "") - (b === "") || one - two;
    const by = Number.isNaN(Number(a)) || Number.isNaN(Number(b)) ? a.localeCompare(b) : Number(a) - Number(b);
    return (up ? by : -by) || one - two;
  });
  page = 0;
  show();
}

document.querySelectorAll("thead th").forEach((head, column) => {
  head.tabIndex = 0;
  head.classList.add("sorts");
  head.addEventListener("click", () => sorted(column, head));
  head.addEventListener("keydown", (event) => { if (event.key === "Enter") sorted(column, head); });
});
for (const control of [search, ending, outcome]) control.addEventListener("input", () => { page = 0; show(); });
document.getElementById("back").addEventListener("click", () => { page -= 1; show(); });
document.getElementById("on").addEventListener("click", () => { page += 1; show(); });
controls.hidden = false;
show();
