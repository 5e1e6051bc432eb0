// SPDX-License-Identifier: Apache-2.0
// What all pages do: draw their charts, again when the width changes; copy and keep texts.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const PAPER_WIDTH = 820; // CSS pixels that fit the width of A4 and Letter as page.css zooms them

async function copy(button) {
    const source = document.getElementById(button.dataset.copies);
    try {
        await navigator.clipboard.writeText(source.textContent.trim());
        button.textContent = "copied";
    } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "selected: press Ctrl+C";
    }
}

function saveText(name, text) {
    save(name, new Blob([text], {type: "text/plain"}));
}

// Offers bytes to keep as a file; nothing leaves the page.
function save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Opens what is folded around the place that a link names.
function unfold() {
    const place = document.getElementById(location.hash.slice(1));
    for (let fold = place?.closest("details") ?? place?.querySelector("details"); fold;
        fold = fold.parentElement.closest("details")) {
        fold.open = true;
    }
    place?.scrollIntoView();
}

// Sorts the rows of a table by one of its columns: numbers by value, the largest first.
function sort(table, column) {
    const head = table.tHead.rows[0].cells[column];
    const order = head.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
    for (const cell of table.tHead.rows[0].cells) {
        cell.removeAttribute("aria-sort");
    }
    head.setAttribute("aria-sort", order);
    const text = (row) => row.cells[column].textContent.replaceAll(",", "").replace("−", "-").trim();
    const compare = (a, b) => parseFloat(text(b)) - parseFloat(text(a))
        || text(a).localeCompare(text(b));
    const rows = [...table.tBodies[0].rows].sort(compare);
    table.tBodies[0].append(...(order === "descending" ? rows : rows.reverse()));
}

// Gives a table buttons that sort it and a field that leaves the rows which have a text.
function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
        const button = document.createElement("button");
        button.type = "button";
        cell.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes)); // a button holds none
        button.append(...cell.childNodes);
        cell.append(button);
        button.addEventListener("click", () => sort(table, column));
    });
    const label = document.createElement("label");
    const field = document.createElement("input");
    field.type = "search";
    field.addEventListener("input", () => {
        for (const row of table.tBodies[0].rows) {
            row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
        }
    });
    label.className = "filter";
    label.append("rows with ", field);
    table.parentElement.before(label);
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
draw();
addEventListener("load", () => requestIdleCallback(drawRest));
let drawnWidth = innerWidth;
addEventListener("resize", () => {
    if (innerWidth !== drawnWidth) {
        drawnWidth = innerWidth;
        draw();
    }
});
// Paper has all parts: what is folded is opened until it is printed.
let opened = [];
addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("section.folded > details:not([open])")];
    opened.forEach((fold) => (fold.open = true));
    document.documentElement.classList.add("paper");
    draw(PAPER_WIDTH);
});
addEventListener("afterprint", () => {
    opened.forEach((fold) => (fold.open = false));
    document.documentElement.classList.remove("paper");
    draw();
});
for (const button of document.querySelectorAll("button[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
}
for (const button of document.querySelectorAll("button[data-saves]")) {
    button.hidden = false;
    button.addEventListener("click", () => saveText(button.dataset.name,
        `${document.getElementById(button.dataset.saves).textContent.trim()}\n`));
}
for (const fold of document.querySelectorAll("details:has(.chart)")) {
    fold.addEventListener("toggle", () => drawIn(fold)); // folded, it has no width to be drawn in
}
addEventListener("hashchange", unfold);
if (location.hash) {
    unfold();
}
