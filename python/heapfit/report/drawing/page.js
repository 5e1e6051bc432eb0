// SPDX-License-Identifier: Apache-2.0
// Draws the charts from the page's JSON block in the colours of light, dark or paper; copies texts.
"use strict";

const figures = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const PAPER_WIDTH = 680; // CSS pixels that fit the printable width of A4 and Letter

// The object with each colour that is a "var(...)" replaced by what the style sheet says now.
function painted(value, key, style) {
    if (typeof value === "string") {
        const isColour = key === "color" || key.endsWith("color");
        const role = isColour && /^var\((--[a-z0-9-]+)\)$/.exec(value);
        return role ? style.getPropertyValue(role[1]).trim() : value;
    }
    if (Array.isArray(value)) {
        return value.map((item) => painted(item, key, style));
    }
    if (value !== null && typeof value === "object") {
        return Object.fromEntries(
            Object.entries(value).map(([name, item]) => [name, painted(item, name, style)]));
    }
    return value;
}

const axis = {
    automargin: true, gridcolor: "var(--grid)", zeroline: false,
    showline: true, linecolor: "var(--line)",
    ticks: "outside", ticklen: 4, tickcolor: "var(--line)",
    title: {standoff: 8, font: {size: 13}},
};

// What all charts share. Figures override it.
const template = {
    layout: {
        paper_bgcolor: "transparent", plot_bgcolor: "transparent", autosize: true,
        font: {family: "system-ui, sans-serif", size: 13, color: "var(--ink)"},
        // A finger scrolls the page.
        dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
        margin: {l: 12, r: 12, t: 30, b: 12},
        hovermode: "x unified",
        hoverlabel: {
            bgcolor: "var(--paper)", bordercolor: "var(--line)", font: {color: "var(--ink)"},
        },
        legend: {
            orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom",
        },
        modebar: {bgcolor: "transparent", color: "var(--muted)", activecolor: "var(--accent)"},
        xaxis: axis, yaxis: axis,
    },
};

// Plotly's buttons, but for those that leave the page.
const config = {
    displaylogo: false, responsive: true,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};

// Draws every chart as wide as its place, but not wider than `widest` where that is given.
function draw(widest) {
    const style = getComputedStyle(document.documentElement);
    const shared = painted(template, "", style);
    for (const [id, figure] of Object.entries(figures)) {
        const {data, layout} = painted(figure, "", style);
        const place = document.getElementById(id);
        const width = widest && Math.min(widest, place.clientWidth);
        Plotly.react(place, data, {...layout, height: place.clientHeight, width, template: shared},
                     {...config, displayModeBar: "tools" in place.dataset && "hover"});
    }
}

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
    link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

draw();
dark.addEventListener("change", () => draw());
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
