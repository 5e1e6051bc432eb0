// SPDX-License-Identifier: Apache-2.0
// Draws a figure (figure.py): panels above one another over one x axis, a legend of buttons, what
// the points under the cursor are, and all of it as a table and as CSV.
"use strict";

const figures = JSON.parse(document.getElementById("figures").textContent);
const TICK_ROOM = 18; // pixels below a panel for the ticks of x
const TITLE_ROOM = 20; // for the title of x
const LETTER = 6.8; // pixels of a title's letter, about: to measure it would lay out the page anew
const MOST_ROWS = 200; // of a table; CSV has all
const hiddenTogether = new Map(); // curves that charts of one name hide together

class Drawing {
    constructor(place, figure) {
        this.place = place;
        this.figure = figure;
        this.hidden = hiddenTogether.get(figure.layout.together) ?? new Set();
        if (figure.layout.together) {
            hiddenTogether.set(figure.layout.together, this.hidden);
        }
        this.picture = document.createElement("div");
        this.note = document.createElement("div");
        this.note.className = "note";
        this.note.hidden = true;
        this.legend = document.createElement("div");
        this.legend.className = "names";
        this.picture.className = "picture";
        this.picture.append(this.note);
        this.data = this.dataOf();
        place.replaceChildren(this.picture, this.legend, this.data);
        this.picture.addEventListener("pointermove", (event) => this.point(event));
        this.picture.addEventListener("pointerdown", (event) => this.point(event));
        this.picture.addEventListener("pointerleave", () => this.unpoint());
    }

    groupOf(one) {
        return one.legendgroup ?? one.name ?? "";
    }

    get shown() {
        return this.figure.data.filter((one) => !this.hidden.has(this.groupOf(one)));
    }

    // As wide as its place, or as is asked for.
    draw(widest) {
        const {layout} = this.figure;
        const height = Number(this.place.dataset.height);
        const width = Math.min(widest ?? Infinity, this.place.clientWidth);
        if (width === 0) {
            return; // folded: drawn when it is opened
        }
        this.svg?.remove();
        this.svg = element("svg", {viewBox: `0 0 ${width} ${height}`, width, height,
            role: "img", "aria-label": this.place.dataset.meaning});
        this.picture.prepend(this.svg);
        const bottom = TICK_ROOM + (layout.xaxis.title?.text ? TITLE_ROOM : 0);
        const panels = this.panelsOf(height - bottom - 10);
        const left = layout.yaxis.visible === false ? 8 : this.leftOf(panels);
        this.box = {left, right: width - 14, top: 10, bottom: height - bottom};
        const across = this.shown.flatMap((one) => one.x ?? []);
        this.x = new Axis(layout.xaxis, across, [left, width - 14], this.roomOf(across));
        this.drawAcross(height);
        for (const panel of panels) {
            this.drawPanel(panel);
        }
        for (const annotation of layout.annotations ?? []) {
            this.annotate(annotation, panels[0]);
        }
        this.drawLegend();
        this.unpoint();
        this.fillData(); // a reader may have chosen other measures
    }

    // Curves go from edge to edge; points and bars keep away from it.
    roomOf(across) {
        if (this.figure.data.every((one) => one.mode === "lines")) {
            return 0;
        }
        const bars = this.figure.data.filter((one) => one.type === "bar");
        const places = new Set(across).size;
        return bars.length > 1 && places > 1 ? 0.5 / (places - 1) : 0.04;
    }

    get isSideways() {
        return this.figure.data.some((one) => one.orientation === "h");
    }

    // The y axes from the lowest panel up, each with the pixels that it takes.
    panelsOf(height) {
        const {layout} = this.figure;
        return Object.keys(layout).filter((key) => key.startsWith("yaxis")).map((key) => {
            const given = layout[key];
            const [low, high] = given.domain ?? [0, 1];
            const traces = this.shown.filter((one) => `yaxis${(one.yaxis ?? "y").slice(1)}` === key);
            const ends = [10 + height * (1 - low), 10 + height * (1 - high)];
            const values = traces.flatMap((one) => this.reach(one, traces));
            const bars = traces.some((one) => one.type === "bar");
            const axis = new Axis(bars && !given.type ? {rangemode: "tozero", ...given} : given,
                values, ends);
            return {axis, traces, given};
        });
    }

    // All that a trace reaches up to.
    reach(one, traces) {
        const ups = one.error_y
            ? one.y.flatMap((y, i) => [y + one.error_y.array[i],
                y - (one.error_y.arrayminus ?? one.error_y.array)[i]]) : [];
        if (one.type === "bar" && this.figure.layout.barmode === "stack" && !this.isSideways) {
            return one.y.map((_, i) => traces.reduce((sum, bar) => sum + (bar.y[i] ?? 0), 0));
        }
        return [...one.y, ...ups].filter((y) => y !== null);
    }

    // Room for the widest tick of any panel, and the title that stands upright.
    leftOf(panels) {
        const letters = panels.flatMap(({axis}) => axis.ticks(44).map(([, text]) => `${text}`.length));
        return 7 * Math.max(2, ...letters) + (panels.some(({given}) => given.title?.text) ? 30 : 14);
    }

    drawAcross(height) {
        const {left, right, bottom} = this.box;
        const {xaxis} = this.figure.layout;
        for (const [x, text] of this.x.ticks(80)) {
            const half = LETTER * `${text}`.length / 2;
            const end = x > right - 14 ? "end" : x < half ? "start" : "middle";
            this.svg.append(element("path", {d: `M${x},${bottom}v4`, class: "axis"}),
                textAt(x, bottom + 16, text, {"text-anchor": end, class: "tick"}));
        }
        if (xaxis.title?.text) {
            const half = LETTER * withoutMarks(xaxis.title.text).length / 2;
            const middle = Math.min((left + right) / 2, Math.max(right - half, half));
            this.svg.append(textAt(middle, height - 4, xaxis.title.text,
                {"text-anchor": "middle", class: "title"}));
        }
    }

    drawPanel(panel) {
        const {left, right} = this.box;
        const {axis, given} = panel;
        const [low, high] = [Math.max(...axis.ends), Math.min(...axis.ends)];
        if (given.visible !== false) {
            for (const [y, text] of axis.ticks(44)) {
                this.svg.append(element("path", {d: `M${left},${y}H${right}`, class: "grid"}),
                    textAt(left - 6, y + 4, text, {"text-anchor": "end", class: "tick"}));
            }
            const at = `translate(12,${(low + high) / 2}) rotate(-90)`;
            this.svg.append(textAt(0, 0, given.title?.text ?? "",
                {transform: at, "text-anchor": "middle", class: "title"}));
        }
        this.svg.append(element("path", {d: `M${left},${high}V${low}H${right}`, class: "axis"}));
        const clip = `clip-${this.place.id}-${Math.round(high)}`;
        const [width, height] = [right - left, low - high];
        const frame = element("rect", {x: left - 7, y: high - 7, width: width + 14,
            height: height + 9});
        const inside = element("g", {"clip-path": `url(#${clip})`});
        this.svg.append(element("clipPath", {id: clip}, frame), inside);
        this.drawTraces(panel, inside);
    }

    drawTraces({axis, traces}, inside) {
        const bars = traces.filter((one) => one.type === "bar");
        let last = [];
        for (const one of traces) {
            if (one.type === "bar") {
                inside.append(...(this.isSideways ? this.sideways(one, bars, axis)
                    : this.upright(one, bars, axis)));
                continue;
            }
            const points = one.x.map((x, i) => [this.x.at(x), one.y[i]])
                .filter(([x, y]) => y !== null && Number.isFinite(x))
                .map(([x, y]) => [x, axis.at(y)]);
            if (one.fill === "tonexty" && points.length) {
                inside.append(bandOf(last, points, one.fillcolor, one.line.shape));
            }
            if (one.mode.includes("lines")) {
                inside.append(lineOf(points, one.line));
            }
            inside.append(...this.intervals(one, axis));
            if (one.mode.includes("markers")) {
                const style = {color: one.line?.color, ...one.marker};
                inside.append(...points.map((point) => markerOf(point, style)));
            }
            last = points;
        }
    }

    intervals(one, axis) {
        if (!one.error_y) {
            return [];
        }
        const {array, arrayminus = array, color} = one.error_y;
        return one.x.map((x, i) => [x, one.y[i], i])
            .filter(([, y, i]) => y !== null && (array[i] || arrayminus[i]))
            .map(([x, y, i]) => intervalOf(this.x.at(x), axis.at(y - arrayminus[i]),
                axis.at(y + array[i]), color));
    }

    // Bars of one trace; in groups beside those of the others, stacked on them or over them.
    upright(one, bars, axis) {
        const {barmode = "group", bargap = 0.15} = this.figure.layout;
        const place = bars.indexOf(one);
        const slot = this.slotOf(one) * (1 - bargap);
        const isGroup = barmode === "group" && bars.length > 1;
        const wide = isGroup ? slot / bars.length : slot;
        return one.x.map((x, i) => {
            const base = barmode === "stack"
                ? bars.slice(0, place).reduce((sum, bar) => sum + (bar.y[i] ?? 0), 0) : 0;
            const width = one.width === undefined ? wide : this.widthOf(x, one.width, i);
            const left = this.x.at(x) - (isGroup ? slot / 2 - place * wide : width / 2);
            const zero = axis.isLog ? axis.ends[0] : axis.at(base);
            const top = axis.at(base + (one.y[i] ?? 0));
            const color = Array.isArray(one.marker.color) ? one.marker.color[i] : one.marker.color;
            return barOf(left, Math.min(top, zero), width, Math.abs(zero - top), color,
                Boolean(one.marker.pattern?.shape));
        });
    }

    // Pixels from one bar to the next.
    slotOf(one) {
        const places = [...new Set(one.x.map((x) => this.x.at(x)))].sort((a, b) => a - b);
        const gaps = places.slice(1).map((place, i) => place - places[i]);
        return gaps.length ? Math.min(...gaps) : (this.box.right - this.box.left) / 2;
    }

    widthOf(x, width, i) {
        const own = Array.isArray(width) ? width[i] : width;
        return Math.max(Math.abs(this.x.at(x + own / 2) - this.x.at(x - own / 2)), 1.5);
    }

    sideways(one, bars, axis) {
        const slot = Math.abs(axis.at(1) - axis.at(0)) * (1 - (this.figure.layout.bargap ?? 0.3));
        const before = bars.slice(0, bars.indexOf(one));
        return one.x.flatMap((x, i) => {
            if (x === null) {
                return [];
            }
            const base = before.reduce((sum, bar) => sum + (bar.x[i] ?? 0), 0);
            const [from, to] = [this.x.at(base), this.x.at(base + x)];
            const y = axis.at(one.y[i]) - slot / 2;
            const color = Array.isArray(one.marker.color) ? one.marker.color[i] : one.marker.color;
            const bar = barOf(from, y, to - from, slot, color, false);
            const text = one.text?.[i];
            return text ? [bar, textAt(to + 6, y + slot / 2 + 4, text, {class: "label"})] : [bar];
        });
    }

    // An upright line at one x, with its label above.
    annotate({x, y, text, xanchor = "center"}, {axis}) {
        const anchors = {left: "start", right: "end", center: "middle"};
        const place = this.x.isLog ? this.x.at(10 ** x) : this.x.at(x);
        this.svg.append(textAt(place, axis.at(y) - 4, text,
            {"text-anchor": anchors[xanchor], class: "label"}));
    }

    drawLegend() {
        const {data, layout} = this.figure;
        const entries = data.filter((one) => one.showlegend !== false && one.name);
        if (layout.showlegend === false || entries.length < 2) {
            this.legend.replaceChildren();
            return;
        }
        const groups = [...new Map(entries.map((one) => [this.groupOf(one), one])).values()];
        const focused = document.activeElement?.dataset?.group;
        this.legend.replaceChildren(...groups.map((one) => this.legendButton(one)));
        this.legend.querySelector(`[data-group="${CSS.escape(focused ?? "")}"]`)?.focus();
    }

    legendButton(one) {
        const group = this.groupOf(one);
        const button = document.createElement("button");
        const colors = one.fillcolor ?? one.line?.color ?? one.marker?.color;
        const color = Array.isArray(colors) ? colors[0] : colors;
        const sample = element("svg", {width: 22, height: 12, "aria-hidden": "true"});
        sample.append(one.type === "bar" ? barOf(3, 1, 16, 10, color, one.marker.pattern?.shape)
            : one.mode?.includes("lines") ? lineOf([[1, 6], [21, 6]], {...one.line, color,
                width: one.fillcolor ? 8 : 2.2, shape: ""})
                : markerOf([11, 6], {...one.marker, size: Math.min(one.marker.size ?? 6, 10)}));
        button.type = "button";
        button.dataset.group = group;
        button.setAttribute("aria-pressed", String(!this.hidden.has(group)));
        button.append(sample, withoutMarks(one.name));
        button.addEventListener("click", () => {
            if (!this.hidden.delete(group)) {
                this.hidden.add(group);
            }
            [...drawings.values()].filter((each) => each.hidden === this.hidden)
                .forEach((each) => each.draw());
        });
        return button;
    }

    // What lies under the cursor: of every curve its value there, or the nearest point alone.
    point(event) {
        const {hovermode = "x unified"} = this.figure.layout;
        const frame = this.svg.getBoundingClientRect();
        const cursor = [event.clientX - frame.left, event.clientY - frame.top];
        const found = hovermode === false ? []
            : hovermode === "closest" ? this.nearest(cursor) : this.allAt(cursor);
        this.mark?.remove();
        this.note.hidden = found.length === 0;
        if (found.length === 0) {
            return;
        }
        const [{one, i}] = found;
        const at = this.pixelOf(one, i);
        this.mark = hovermode === "closest"
            ? markerOf(at, {color: "var(--ink)", size: 12, symbol: "circle-open"})
            : element("path", {d: `M${at[0]},${this.box.top}V${this.box.bottom}`, class: "mark"});
        this.svg.append(this.mark);
        const lines = found.map((each) => this.told(each.one, each.i));
        const head = hovermode === "closest" ? [] : [this.headOf(one.x[i])];
        this.note.textContent = [...head, ...lines].join("\n");
        const isRight = at[0] > (this.box.left + this.box.right) / 2;
        this.note.style.left = isRight ? "" : `${at[0] + 14}px`;
        this.note.style.right = isRight ? `${frame.width - at[0] + 14}px` : "";
        this.note.style.top = `${Math.max(0, Math.min(cursor[1] - 20, frame.height - 60))}px`;
    }

    unpoint() {
        this.note.hidden = true;
        this.mark?.remove();
    }

    headOf(x) {
        const {title, hoverformat} = this.figure.layout.xaxis;
        return `${withoutMarks(title?.text ?? "")} ${formed(x, hoverformat)}`.trim();
    }

    axisOf(one) {
        const key = `yaxis${(one.yaxis ?? "y").slice(1)}`;
        const {top, bottom} = this.box;
        return this.panelsOf(bottom - top).find(({given}) => given === this.figure.layout[key]).axis;
    }

    pixelOf(one, i) {
        return [this.x.at(one.x[i]), this.axisOf(one).at(one.y[i])];
    }

    nearest([x, y]) {
        let best = {distance: 40};
        for (const one of this.shown.filter((each) => each.hoverinfo !== "skip")) {
            const axis = this.axisOf(one);
            one.x.forEach((value, i) => {
                const tall = one.type === "bar" ? 0.1 : 1;
                const distance = Math.hypot(this.x.at(value) - x,
                    tall * (axis.at(one.y[i] ?? NaN) - y));
                best = distance < best.distance ? {one, i, distance} : best;
            });
        }
        return best.one ? [best] : [];
    }

    allAt([x]) {
        const {left, right} = this.box;
        const value = this.x.under(Math.min(Math.max(x, left), right));
        return this.shown.filter((one) => one.hoverinfo !== "skip" && one.x.length)
            .map((one) => ({one, i: this.indexAt(one, value, x)}))
            .filter(({one, i}) => one.y[i] !== null);
    }

    indexAt(one, value, pixel) {
        if (one.line?.shape === "hv") {
            const after = one.x.findIndex((x) => x > value);
            return after < 0 ? one.x.length - 1 : Math.max(0, after - 1);
        }
        const apart = one.x.map((x) => Math.abs(this.x.at(x) - pixel));
        return apart.indexOf(Math.min(...apart));
    }

    // The sentence of a point, by its figure's template.
    told(one, i) {
        const template = one.hovertemplate ?? "%{y}";
        const known = {x: one.x[i], y: one.y[i], text: one.text?.[i], customdata: one.customdata?.[i]};
        const text = template.replaceAll(/%\{(\w+)(?:\[(\d+)\])?(?::([^}]*))?\}/g,
            (_, name, place, spec) =>
                formed(place === undefined ? known[name] : known[name][Number(place)], spec));
        const isAlone = text.includes("<extra></extra>") || !one.name;
        const said = withoutMarks(text.replace("<extra></extra>", ""));
        return isAlone ? said : `${withoutMarks(one.name)}: ${said}`;
    }

    // The figure's numbers, made when they are asked for.
    dataOf() {
        const details = document.createElement("details");
        const summary = document.createElement("summary");
        summary.textContent = "data";
        details.className = "data";
        details.append(summary);
        details.addEventListener("toggle", () => this.fillData());
        return details;
    }

    fillData() {
        if (this.data.open) {
            const isSaveFocused = document.activeElement === this.data.querySelector("button");
            this.data.replaceChildren(this.data.firstChild, ...this.tableOf());
            if (isSaveFocused) {
                this.data.querySelector("button").focus();
            }
        }
    }

    // Of a sideways chart the names of its bars stand where others have y.
    get rows() {
        const {names} = this.figure.layout.yaxis;
        return this.figure.data.flatMap((one) => (one.x ?? []).map((x, i) =>
            [withoutMarks(one.name ?? ""), x,
                names ? withoutMarks(names[Math.round(one.y[i])]) : one.y[i]]));
    }

    get headings() {
        const {xaxis, yaxis} = this.figure.layout;
        return ["curve", withoutMarks(xaxis.title?.text || "x"), withoutMarks(yaxis.title?.text || "y")];
    }

    tableOf() {
        const save = document.createElement("button");
        save.type = "button";
        save.textContent = "as CSV";
        save.addEventListener("click", () => saveText(`${this.place.id}.csv`,
            [this.headings, ...this.rows].map((row) => row.map((cell) =>
                (typeof cell === "string" ? `"${cell.replaceAll('"', '""')}"` : cell ?? ""))
                .join(",")).join("\n") + "\n"));
        const table = document.createElement("table");
        const head = table.createTHead().insertRow();
        for (const heading of this.headings) {
            const cell = document.createElement("th");
            cell.scope = "col";
            cell.textContent = heading;
            head.append(cell);
        }
        const body = table.createTBody();
        for (const row of this.rows.slice(0, MOST_ROWS)) {
            const line = body.insertRow();
            row.forEach((cell) => (line.insertCell().textContent = cell === null ? "–"
                : typeof cell === "number" ? plain(cell) : cell));
        }
        const frame = document.createElement("div");
        frame.className = "wide table";
        frame.tabIndex = 0;
        frame.append(table);
        const left = this.rows.length - MOST_ROWS;
        const more = document.createElement("p");
        more.textContent = left > 0 ? `${plain(left)} more rows are in the CSV.` : "";
        return [save, frame, more];
    }
}

const drawings = new Map();
const NEAR = "900px"; // from the window: what is further away is drawn when it comes nearer

const approaching = new IntersectionObserver((entries) => {
    for (const {target} of entries.filter(({isIntersecting}) => isIntersecting)) {
        approaching.unobserve(target);
        drawings.get(target.id).draw();
    }
}, {rootMargin: NEAR});

// Draws what is further away one by one, when the page has nothing else to do.
function drawRest() {
    const next = [...drawings.values()].find(({svg, place}) =>
        !svg && place.clientWidth > 0 && !place.closest("details:not([open])"));
    if (next) {
        next.draw();
        requestIdleCallback(drawRest);
    }
}

// Draws the charts of an opened fold that are not yet drawn as wide as they are.
function drawIn(fold) {
    for (const place of fold.querySelectorAll(".chart")) {
        const drawing = drawings.get(place.id);
        if (Number(drawing.svg?.getAttribute("width")) !== place.clientWidth) {
            drawing.draw();
        }
    }
}

// Draws every chart that is near or was drawn, as wide as its place; all of them where they are to
// be `widest` at most, as on paper.
function draw(widest) {
    for (const [id, figure] of Object.entries(figures)) {
        if (!drawings.has(id)) {
            drawings.set(id, new Drawing(document.getElementById(id), figure));
        }
        const drawing = drawings.get(id);
        if (widest || drawing.svg) {
            drawing.draw(widest);
        } else {
            approaching.observe(drawing.place);
        }
    }
}
