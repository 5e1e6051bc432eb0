// SPDX-License-Identifier: Apache-2.0
// What charts are made of, as SVG: lines, steps, bands, points, bars, intervals and texts.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const DASHES = {dot: "2 3", dash: "6 4", solid: ""};

function element(name, attributes = {}, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value !== undefined && value !== "") {
            made.setAttribute(key, value);
        }
    }
    made.append(...children);
    return made;
}

const decoded = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

// A figure's text with its <b>, <sub> and <sup>, a tspan each.
function spans(text) {
    const made = [];
    let [isBold, shift] = [false, ""];
    for (const part of `${text}`.split(/(<\/?(?:b|sub|sup)>)/)) {
        const tag = /^<(\/?)(b|sub|sup)>$/.exec(part);
        if (!tag) {
            const style = shift ? {"baseline-shift": shift, "font-size": "75%"} : {};
            made.push(element("tspan", {...style, "font-weight": isBold ? 650 : ""}, decoded(part)));
        } else if (tag[2] === "b") {
            isBold = !tag[1];
        } else {
            shift = tag[1] ? "" : tag[2] === "sub" ? "-25%" : "35%";
        }
    }
    return made;
}

// The text without its marks.
const withoutMarks = (text) => decoded(`${text}`.replaceAll(/<br>/g, "\n")
    .replaceAll(/<\/?(?:b|sub|sup)>/g, ""));

function textAt(x, y, text, attributes = {}) {
    return element("text", {x, y, ...attributes}, ...spans(text));
}

// The points of a curve that are known, in pixels; `hv` holds a value until the next point.
function pathOf(points, shape) {
    return points.map(([x, y], i) => {
        const hold = shape === "hv" && i > 0 ? `H${x.toFixed(1)}` : "";
        return i === 0 ? `M${x.toFixed(1)},${y.toFixed(1)}`
            : `${hold}${hold ? `V${y.toFixed(1)}` : `L${x.toFixed(1)},${y.toFixed(1)}`}`;
    }).join("");
}

function lineOf(points, {color, width = 1.6, dash = "solid", shape}) {
    return element("path", {
        d: pathOf(points, shape), fill: "none", style: `stroke:${color}`, "stroke-width": width,
        "stroke-dasharray": DASHES[dash], "stroke-linejoin": "round",
    });
}

// What lies between two curves.
function bandOf(lower, upper, fill, shape) {
    const back = shape === "hv"
        ? [...lower].reverse().map(([x, y], i, all) =>
            (i === 0 ? `L${x},${y}` : `V${y}H${x}`)).join("")
        : [...lower].reverse().map(([x, y]) => `L${x},${y}`).join("");
    return element("path", {d: `${pathOf(upper, shape)}${back}Z`, style: `fill:${fill}`});
}

const SHAPES = {
    circle: (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
    diamond: (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0Z`,
    square: (r) => `M${-r},${-r}H${r}V${r}H${-r}Z`,
};

function markerOf([x, y], {color, size = 6, symbol = "circle", opacity, line = {}}) {
    const isOpen = symbol.endsWith("-open");
    const edge = isOpen ? color : line.color ?? "none";
    return element("path", {
        d: SHAPES[symbol.replace("-open", "")](size / 2), transform: `translate(${x},${y})`,
        style: `fill:${isOpen ? "none" : color};stroke:${edge}`,
        "stroke-width": isOpen ? line.width || 1.5 : line.width ?? 0, opacity,
    });
}

// From the lowest to the highest value, with a foot at each.
function intervalOf(x, low, high, color) {
    return element("path", {
        d: `M${x},${low}V${high}M${x - 3},${low}h6M${x - 3},${high}h6`, fill: "none",
        style: `stroke:${color}`, "stroke-width": 1.2,
    });
}

function barOf(x, y, width, height, color, isHatched) {
    return element("rect", {
        x, y, width: Math.max(width, 0.5), height: Math.max(height, 0),
        style: `fill:${color}${isHatched ? `;fill-opacity:0.45;stroke:${color}` : ""}`,
    });
}
