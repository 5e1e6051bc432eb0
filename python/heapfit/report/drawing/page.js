// SPDX-License-Identifier: Apache-2.0
// What all pages do: draw their charts, again when the width changes; copy and keep texts.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const PAPER_WIDTH = 680; // CSS pixels that fit the printable width of A4 and Letter

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

// Offers a text to keep as a file; nothing leaves the page.
function saveText(name, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "text/plain"}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

draw();
let drawnWidth = innerWidth;
addEventListener("resize", () => {
    if (innerWidth !== drawnWidth) {
        drawnWidth = innerWidth;
        draw();
    }
});
addEventListener("beforeprint", () => {
    document.documentElement.classList.add("paper");
    draw(PAPER_WIDTH);
});
addEventListener("afterprint", () => {
    document.documentElement.classList.remove("paper");
    draw();
});
for (const button of document.querySelectorAll("button[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
}
