// SPDX-License-Identifier: Apache-2.0
// Lets the reader choose the two measures of a design space's chart; runs after page.js.
"use strict";

const space = figures["chart-front"];
const {measures, front} = space.layout.meta;
const chosen = (name) => document.getElementById(`front-${name}`).value;

// The configurations that none is as good as in both and better in one, ascending in x.
function frontOfTwo(x, y) {
    const known = x.map((_, i) => i).filter((i) => x[i] !== null && y[i] !== null);
    known.sort((i, j) => x[i] - x[j] || y[i] - y[j]);
    let least = Infinity;
    return known.filter((i) => y[i] < least && ((least = y[i]), true));
}

// An axis from a little below the least of the front to a little above its most, or of everything.
// Logarithmic where the greatest is many times the least.
function axisOf(measure) {
    const title = {text: measure.title};
    const known = front.map((i) => measure.values[i]).filter((value) => value !== null);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const isLog = least > 0 && most > 4 * least;
    const kind = isLog ? {type: "log", dtick: "D2"} : {type: "linear"};
    const axis = {title, ...kind, tickformat: ",~r", autorange: true};
    if (chosen("range") === "all" || known.length === 0) {
        return axis;
    }
    const ends = isLog ? [Math.log10(least), Math.log10(most)] : [least, most];
    const room = (ends[1] - ends[0] || ends[1] || 1) * 0.08;
    return {...axis, autorange: false, range: [ends[0] - room, ends[1] + room]};
}

function show() {
    const [x, y] = [measures[chosen("x")], measures[chosen("y")]];
    for (const trace of space.data) {
        const shown = trace.meta ?? frontOfTwo(x.values, y.values);
        trace.x = shown.map((i) => x.values[i]);
        trace.y = shown.map((i) => y.values[i]);
    }
    [space.layout.xaxis, space.layout.yaxis] = [axisOf(x), axisOf(y)];
    draw();
}

for (const name of ["x", "y", "range"]) {
    document.getElementById(`front-${name}`).addEventListener("change", show);
}
document.getElementById("front-choices").hidden = false;
show();
