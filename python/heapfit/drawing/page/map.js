// SPDX-License-Identifier: Apache-2.0
// Draws the heap map: every block as a rectangle, events or time across and addresses up, in the
// heap of today and in the chosen one. packed.py says what the page's record holds.
"use strict";
{
    const told = JSON.parse(document.getElementById("map-data").textContent);
    const byId = (name) => document.getElementById(`heap-map-${name}`);
    const number = new Intl.NumberFormat("en");
    const bytes = (value) => `${number.format(value)} B`;
    const COLOURS = ["--accent", "--other-1", "--other-3", "--other-2", "--other-4", "--other-5",
        "--other-6", "--quiet"];
    const LEFT = 62; // CSS pixels, for the addresses
    const BOTTOM = 22;
    const TOP = 16;
    const SMALLEST_EDGE = 5; // pixels: larger rectangles have an edge

    const columns = {};
    let starts, ends, times; // of each block told; times: ms since the first event, of each event
    const panels = [];
    const view = {from: 0, until: 0, low: 0, high: 1}; // x in events or ms, y in shares of a heap's height
    let byTime = false;
    let chosen = null; // which region of the row; null: each heap in its own

    // Four planes of bytes, the lowest first, as numbers.
    function numbersOf(planes, count) {
        const values = new Uint32Array(count);
        for (let i = 0; i < count; i++) {
            values[i] = planes[i] + planes[count + i] * 256 + planes[2 * count + i] * 65536
                + planes[3 * count + i] * 16777216;
        }
        return values;
    }

    async function unpack() {
        const packed = Uint8Array.from(atob(told.packed), (letter) => letter.charCodeAt(0));
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
        const all = new Uint8Array(await new Response(stream).arrayBuffer());
        let at = 0;
        for (const [name, count, width] of told.columns) {
            const part = all.subarray(at, at + count * width);
            columns[name] = width === 1 ? part : numbersOf(part, count);
            at += count * width;
        }
    }

    function settle() {
        let last = 0;
        starts = columns.starts.map((step) => (last += step));
        ends = columns.lengths.map((length, i) => starts[i] + length);
        if (told.hasTimes) {
            times = new Float64Array(told.events + 1);
            let now = 0;
            columns.times.forEach((step, i) => (times[i] = (now += step) / 1000));
            times[told.events] = (now / 1000) * (1 + 1 / told.events);
        }
    }

    const across = (event) => (byTime ? times[event] : event);
    const eventText = (event) => `event ${number.format(event + 1)}`; // texts count from 1
    const stateOf = (heap) => (chosen === null ? told.heaps[heap].own : told.heaps[heap].row[chosen]);
    const suffix = () => (chosen === null ? "" : `-${chosen}`);

    // What is made once of a key, and kept.
    function kept(store, key, make) {
        if (!store.has(key)) {
            store.set(key, make());
        }
        return store.get(key);
    }

    // Offsets of the blocks that heap placed, in the state shown.
    const places = new Map();
    function placesOf(heap, state = chosen) {
        const own = columns[`place-${heap}`];
        return state === null ? own : kept(places, `${heap}-${state}`, () => {
            const apart = columns[`place-${heap}-${state}`];
            const found = new Uint32Array(apart.length);
            for (let i = 0; i < found.length; i++) {
                found[i] = (i < own.length ? own[i] : 0) + apart[i];
            }
            return found;
        });
    }

    // Those of all states, one by one, when the page has nothing else to do.
    function placeAll(state = 0) {
        if (state < told.heaps[0].row.length) {
            told.heaps.forEach((_, heap) => placesOf(heap, state));
            requestIdleCallback(() => placeAll(state + 1));
        }
    }

    // The blocks of each colour, by sizes or by sites.
    const ofColours = new Map();
    const blocksByColour = (kind) => kept(ofColours, kind, () => {
        const found = COLOURS.map(() => []);
        columns[kind].forEach((place, i) => found[told[kind].colours[place]].push(i));
        return found;
    });

    // The event at a place of the axis.
    function eventAt(x) {
        if (!byTime) {
            return Math.floor(x);
        }
        let [low, high] = [0, told.events];
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            [low, high] = times[middle] <= x ? [middle, high] : [low, middle - 1];
        }
        return low;
    }

    // Ticks at 1, 2 or 5 times a power of ten, or at powers of two for bytes.
    function ticksOf(low, high, most, isBytes) {
        const least = (high - low) / most;
        let step = isBytes ? 2 ** Math.ceil(Math.log2(least)) : 10 ** Math.floor(Math.log10(least));
        if (!isBytes) {
            step *= [1, 2, 5, 10].find((factor) => factor * step >= least);
        }
        step = byTime && !isBytes ? step : Math.max(step, 1);
        const ticks = [];
        for (let i = Math.ceil(low / step); i * step <= high; i++) {
            ticks.push(i * step);
        }
        return ticks;
    }

    function addressText(value) {
        const [part, unit] = value >= 1 << 20 ? [1 << 20, "MiB"] : [1024, "KiB"];
        return value % 1024 === 0 ? `${number.format(+(value / part).toFixed(2))} ${unit}` : bytes(value);
    }

    const acrossText = (x) => (byTime ? `${number.format(+x.toPrecision(6))} ms` : number.format(x));

    // One heap: its canvas and what lies under the cursor.
    class Panel {
        constructor(heap) {
            this.heap = heap;
            this.height = told.heaps[heap].height; // bytes
            this.canvas = byId(`canvas-${heap}`);
            this.pictures = new Map();
            this.cursor = null; // in CSS pixels of the canvas
            this.kept = null; // the block that was clicked
            this.drag = null; // where a rectangle to zoom into was begun
            this.box = null; // of the blocks, in CSS pixels; asked for once a drawing, as asking is slow
            this.listen();
        }

        x(place) {
            const {left, width} = this.box;
            return left + ((place - view.from) / (view.until - view.from)) * width;
        }

        y(address) {
            const {top, height} = this.box;
            return top + height - ((address / this.height - view.low) / (view.high - view.low)) * height;
        }

        // The place of the axes under a point of the canvas.
        at({x, y}) {
            const {left, top, width, height} = this.box;
            const up = view.low + ((top + height - y) / height) * (view.high - view.low);
            return {
                across: view.from + ((x - left) / width) * (view.until - view.from),
                up,
                address: up * this.height,
            };
        }

        draw() {
            const ratio = window.devicePixelRatio || 1;
            const {clientWidth, clientHeight} = this.canvas;
            if (clientWidth === 0 || clientHeight === 0) {
                return; // not shown
            }
            this.canvas.width = clientWidth * ratio;
            this.canvas.height = clientHeight * ratio;
            const pen = this.canvas.getContext("2d");
            pen.scale(ratio, ratio);
            this.pen = pen;
            this.style = getComputedStyle(document.documentElement);
            this.places = placesOf(this.heap);
            const [left, top] = [LEFT, TOP];
            const [width, height] = [clientWidth - LEFT - 8, clientHeight - TOP - BOTTOM];
            this.box = {left, top, width, height};
            this.canvas.dataset.box = [left, top, width, height].join(" ");
            pen.save();
            pen.beginPath();
            pen.rect(left, top, width, height);
            pen.clip();
            this.drawGround();
            this.drawBlocks();
            this.drawMarks();
            pen.restore();
            this.drawAxes();
            this.base = new OffscreenCanvas(this.canvas.width, this.canvas.height);
            this.base.getContext("2d").drawImage(this.canvas, 0, 0);
            this.drawPointer();
        }

        // What follows the pointer, over all that does not.
        drawPointer() {
            const ratio = window.devicePixelRatio || 1;
            this.pen.setTransform(1, 0, 0, 1, 0, 0);
            this.pen.drawImage(this.base, 0, 0);
            this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
            this.drawCursor();
            this.tell();
        }

        colour(name) {
            return this.style.getPropertyValue(name).trim();
        }

        drawGround() {
            const {left, width} = this.box;
            const {region} = stateOf(this.heap);
            const [pen, edge] = [this.pen, this.y(region)];
            pen.fillStyle = this.colour("--paper");
            pen.fillRect(left, edge, width, this.y(0) - edge);
            const others = told.heaps.map((_, heap) => stateOf(heap).region);
            const most = told.isDivided ? region : Math.max(...others);
            pen.fillStyle = this.colour("--saved");
            pen.fillRect(left, this.y(most), width, edge - this.y(most));
            if (most > region) {
                pen.fillStyle = this.colour("--ink");
                pen.textAlign = "center";
                pen.textBaseline = "middle";
                pen.font = "600 12px system-ui, sans-serif";
                if (edge - this.y(most) >= 12) {
                    pen.fillText(`saved: ${bytes(most - region)}`, left + width / 2,
                        (edge + this.y(most)) / 2);
                }
            }
        }

        // Blocks of the window one by one; around it the picture of the whole run. Seen from afar
        // the window is a part of the picture: blocks that share a pixel would pale each other.
        drawBlocks() {
            const refused = stateOf(this.heap).refused;
            const last = refused ? refused.event : told.events;
            if (told.picture) {
                const isFar = this.isFar();
                this.drawPicture(last, isFar);
                if (isFar) {
                    return;
                }
            }
            const edge = this.colour("--paper");
            blocksByColour(byId("colour").value).forEach((blocks, colour) => {
                this.pen.fillStyle = this.colour(COLOURS[colour]);
                for (const i of blocks) {
                    if (i < this.places.length) {
                        this.drawBlock(i, this.places[i], last, edge);
                    }
                }
            });
        }

        drawBlock(i, place, last, edge) {
            const [first, until] = told.window;
            const from = across(Math.max(starts[i], first));
            const to = across(Math.min(ends[i], last, until));
            const size = this.sizeOf(i);
            if (to < view.from || from > view.until || place > view.high * this.height
                || place + size < view.low * this.height || to < from) {
                return;
            }
            const [x, y] = [this.x(from), this.y(place + size)];
            const [width, height] = [this.x(to) - x, this.y(place) - y];
            this.pen.fillRect(x, y, width, height);
            if (width > SMALLEST_EDGE && height > SMALLEST_EDGE) {
                this.pen.strokeStyle = edge;
                this.pen.lineWidth = 0.5;
                this.pen.strokeRect(x, y, width, height);
            }
        }

        isFar() {
            return (view.until - view.from) * 2 > across(told.events)
                && (view.high - view.low) * 2 > 1;
        }

        drawPicture(last, isWindowIn) {
            const [width, height] = suffix() ? told.rowPicture : told.picture;
            const picture = this.pictureOf(width, height);
            this.pen.imageSmoothingEnabled = false;
            const [up, down] = [this.y(this.height), this.y(0)];
            for (let column = 0; column < width; column++) {
                const event = Math.floor((column * told.events) / width);
                const next = Math.floor(((column + 1) * told.events) / width);
                const isOfWindow = event >= told.window[0] && next <= told.window[1];
                if (event >= last || (isOfWindow && !isWindowIn)) {
                    continue;
                }
                // Whole pixels of the screen: parts of two columns would mix into a paler colour.
                const [x, to] = [event, next].map((one) => this.wholePixel(this.x(across(one))));
                if (to > x) {
                    this.pen.drawImage(picture, column, 0, 1, height, x, up, to - x, down - up);
                }
            }
            const [x, to] = told.window.map((event) => this.x(across(event)));
            this.pen.strokeStyle = this.colour("--ink");
            this.pen.strokeRect(x, up + 1, to - x, down - up - 2);
        }

        wholePixel(x) {
            return Math.round(x * devicePixelRatio) / devicePixelRatio;
        }

        // Of each state and scheme of colours.
        pictureOf(width, height) {
            const key = `${suffix()} ${this.colour("--paper")}`;
            return kept(this.pictures, key, () => this.newPicture(width, height));
        }

        newPicture(width, height) {
            const cells = columns[`picture-${this.heap}${suffix()}`];
            const canvas = new OffscreenCanvas(width, height);
            const pen = canvas.getContext("2d", {willReadFrequently: true});
            COLOURS.forEach((name, colour) => {
                pen.fillStyle = this.colour(name);
                pen.fillRect(colour, 0, 1, 1);
            });
            const inks = new Uint32Array(pen.getImageData(0, 0, COLOURS.length, 1).data.buffer);
            const image = new ImageData(width, height);
            const pixels = new Uint32Array(image.data.buffer);
            cells.forEach((cell, i) => {
                if (cell > 0) {
                    const row = height - 1 - Math.floor(i / width);
                    pixels[row * width + (i % width)] = inks[cell - 1];
                }
            });
            pen.putImageData(image, 0, 0);
            return canvas;
        }

        drawMarks() {
            const {region, refused} = stateOf(this.heap);
            const {left, top, width, height} = this.box;
            const pen = this.pen;
            pen.fillStyle = this.colour("--ink");
            pen.fillRect(left, this.y(region) - 0.75, width, 1.5);
            const {events, peak} = told.heaps[this.heap];
            const isPeakSeen = !refused || refused.event > peak;
            this.drawUpright(peak, "--ink", isPeakSeen && !told.is_dump ? "most bytes live" : "");
            if (events < told.events) {
                this.drawUpright(events, "--ink", "ends");
            }
            if (refused) {
                const x = this.x(across(refused.event));
                pen.fillStyle = this.colour("--veil");
                pen.fillRect(x, top, left + width - x, height);
                this.drawUpright(refused.event, "--warn", `out of memory: ${bytes(refused.size)}`);
            }
        }

        drawUpright(event, colour, text) {
            const {left, top, width, height} = this.box;
            const [pen, x] = [this.pen, this.x(across(event))];
            pen.fillStyle = pen.strokeStyle = this.colour(colour);
            pen.lineWidth = 1.5;
            pen.setLineDash(colour === "--warn" ? [] : [5, 4]);
            pen.beginPath();
            pen.moveTo(x, top);
            pen.lineTo(x, top + height);
            pen.stroke();
            pen.setLineDash([]);
            pen.font = "600 12px system-ui, sans-serif";
            pen.textBaseline = "bottom";
            const wide = pen.measureText(text).width;
            const isRight = x + 8 + wide > left + width;
            pen.textAlign = isRight ? "right" : "left";
            const at = isRight ? x - 6 : x + 6;
            if (!text) {
                return;
            }
            pen.fillStyle = this.colour("--veil");
            pen.fillRect(isRight ? at - wide - 3 : at - 3, top + height - 20, wide + 6, 17);
            pen.fillStyle = this.colour(colour);
            pen.fillText(text, at, top + height - 4);
        }

        drawCursor() {
            const pen = this.pen;
            if (this.drag && this.cursor) {
                pen.strokeStyle = this.colour("--ink");
                pen.lineWidth = 1;
                pen.strokeRect(this.drag.x, this.drag.y, this.cursor.x - this.drag.x,
                    this.cursor.y - this.drag.y);
                return;
            }
            pen.strokeStyle = this.colour("--ink");
            pen.lineWidth = 1;
            this.alike().forEach((block) => this.frame(block));
            pen.lineWidth = 2;
            [this.blockUnder(), this.kept].forEach((block) => block !== null && this.frame(block));
            if (this.cursor && document.activeElement === this.canvas) {
                pen.fillStyle = this.colour("--ink");
                pen.fillRect(this.cursor.x - 6, this.cursor.y - 0.5, 12, 1);
                pen.fillRect(this.cursor.x - 0.5, this.cursor.y - 6, 1, 12);
            }
        }

        drawAxes() {
            const {left, top, width, height} = this.box;
            const pen = this.pen;
            pen.fillStyle = this.colour("--muted");
            pen.font = "12px system-ui, sans-serif";
            pen.textAlign = "right";
            pen.textBaseline = "middle";
            for (const address of ticksOf(...[view.low, view.high].map((one) => one * this.height),
                height / 40, true)) {
                pen.fillText(addressText(address), left - 8, this.y(address));
                pen.fillRect(left - 4, this.y(address), 4, 1);
            }
            pen.textBaseline = "top";
            for (const place of ticksOf(view.from, view.until, width / 110, false)) {
                const x = this.x(place);
                pen.textAlign = x > left + width - 30 ? "right" : "center";
                pen.fillText(acrossText(place), x, top + height + 7);
                pen.fillRect(x, top + height, 1, 4);
            }
            pen.strokeStyle = this.colour("--line");
            pen.lineWidth = 1;
            pen.strokeRect(left, top, width, height);
        }

        frame(block) {
            const [x, place] = [this.x(across(starts[block])), this.places[block]];
            const y = this.y(place + this.sizeOf(block));
            this.pen.strokeRect(x, y, this.x(across(ends[block])) - x, this.y(place) - y);
        }

        // The blocks of the call site of the one that was clicked; of its size without sites.
        alike() {
            const kind = told.sites ? "sites" : "sizes";
            return this.kept === null ? [] : [...this.places.keys()].filter((i) =>
                columns[kind][i] === columns[kind][this.kept]);
        }

        // Keeps a block's text, marks what is of its call site, and its row of who holds the peak.
        keep() {
            this.kept = this.blockUnder();
            this.link = null;
            const [label, holder] = this.kept === null ? [] : told.sites
                ? [told.sites.labels[columns.sites[this.kept]], "call site"]
                : [bytes(this.sizeOf(this.kept)), "size"];
            for (const row of document.querySelectorAll("#peak tbody tr")) {
                const name = row.cells[0].textContent.replaceAll("\u00a0", " ").trim();
                row.classList.toggle("found", name === label);
                if (name === label) {
                    row.id = "found-holder";
                    this.link = Object.assign(document.createElement("a"), {
                        href: "#found-holder", textContent: ` Who holds the peak: this ${holder}.`});
                } else if (row.id) {
                    row.removeAttribute("id");
                }
            }
            this.drawPointer();
        }

        sizeOf(i) {
            return sizes[columns.sizes[i]];
        }

        // The block under the cursor, or null.
        blockUnder() {
            if (!this.cursor) {
                return null;
            }
            const {across: x, address} = this.at(this.cursor);
            const event = eventAt(x);
            const {refused} = stateOf(this.heap);
            if (refused && event >= refused.event) {
                return null;
            }
            const found = this.places.findIndex((place, i) => place <= address
                && address < place + this.sizeOf(i) && starts[i] <= event && event < ends[i]);
            return found < 0 ? null : found;
        }

        tell() {
            const readout = byId(`readout-${this.heap}`);
            if (!this.cursor && this.kept !== null) {
                readout.textContent = this.blockText(this.kept);
                if (this.link) {
                    readout.append(this.link);
                }
                return;
            }
            if (!this.cursor) {
                readout.textContent = "Point at a block, or move over the map with the arrow keys.";
                return;
            }
            const block = this.blockUnder();
            const {across: x, address} = this.at(this.cursor);
            const event = eventAt(x);
            const isInside = event >= told.window[0] && event < told.window[1];
            readout.textContent = block !== null ? this.blockText(block)
                : isInside ? `No request at ${bytes(Math.floor(address))}, `
                    + `${eventText(event)}: free, a header or padding.`
                : "Zoom into the frame to see single blocks.";
        }

        blockText(i) {
            const life = ends[i] - starts[i];
            const last = ends[i] === told.heaps[this.heap].events ? "to the end" : `to ${number.format(ends[i] + 1)}`;
            const inTime = told.hasTimes
                ? `, ${number.format(+(times[ends[i]] - times[starts[i]]).toPrecision(4))} ms` : "";
            const site = told.sites ? `; call site ${told.sites.labels[columns.sites[i]]}` : "";
            return `${bytes(this.sizeOf(i))} at ${bytes(this.places[i])}; `
                + `${eventText(starts[i])} ${last} (${number.format(life)} events${inTime})`
                + `${site}.`;
        }

        listen() {
            const canvas = this.canvas;
            const point = ({offsetX, offsetY}) => ({x: offsetX, y: offsetY});
            canvas.addEventListener("pointermove", (event) => this.moveTo(point(event)));
            canvas.addEventListener("pointerleave", () => this.moveTo(null));
            canvas.addEventListener("pointerdown", (event) => {
                if (event.pointerType === "mouse") {
                    canvas.setPointerCapture(event.pointerId);
                    this.drag = point(event);
                }
                this.moveTo(point(event));
            });
            canvas.addEventListener("pointerup", (event) => this.release(point(event)));
            canvas.addEventListener("dblclick", whole);
            canvas.addEventListener("keydown", (event) => this.press(event));
            canvas.addEventListener("blur", () => this.moveTo(null));
        }

        moveTo(cursor) {
            this.cursor = cursor;
            if (this.base) {
                this.drawPointer();
            }
        }

        release(end) {
            const start = this.drag;
            this.drag = null;
            if (start && Math.abs(end.x - start.x) > 8 && Math.abs(end.y - start.y) > 8) {
                const [a, b] = [this.at(start), this.at(end)];
                look(Math.min(a.across, b.across), Math.max(a.across, b.across),
                    Math.min(a.up, b.up), Math.max(a.up, b.up));
            } else {
                this.keep();
            }
        }

        press(event) {
            const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
                ArrowDown: [0, 1]};
            const {left, top, width, height} = this.box;
            const cursor = this.cursor ?? {x: left + width / 2, y: top + height / 2};
            if (event.key in steps) {
                const pace = event.shiftKey ? 40 : 6;
                const [x, y] = steps[event.key];
                this.moveTo({
                    x: Math.min(Math.max(cursor.x + x * pace, left), left + width - 1),
                    y: Math.min(Math.max(cursor.y + y * pace, top), top + height - 1),
                });
            } else if (event.key === "+" || event.key === "-") {
                const {across: x, up} = this.at(cursor);
                zoom(event.key === "+" ? 0.5 : 2, x, up);
            } else if (event.key === "0" || event.key === "Escape") {
                whole();
            } else {
                return;
            }
            event.preventDefault();
        }
    }

    const sizes = told.sizes.labels.map((label) => Number(label.replaceAll(",", "")));
    const drawAll = () => panels.forEach((panel) => panel.draw());

    // Once a frame, however many steps of the slider come in it.
    let isDue = false;
    function drawSoon() {
        if (!isDue) {
            isDue = true;
            requestAnimationFrame(() => {
                isDue = false;
                drawAll();
            });
        }
    }

    function look(from, until, low, high) {
        const most = across(told.events);
        Object.assign(view, {
            from: Math.max(0, from), until: Math.min(most, until),
            low: Math.max(0, low), high: Math.min(1, high),
        });
        drawAll();
    }

    const whole = () => look(0, across(told.events), 0, 1);

    function zoom(factor, x, up) {
        const width = Math.max((view.until - view.from) * factor, across(told.events) / 1e5);
        const height = Math.max((view.high - view.low) * factor, 64 / told.height);
        const left = (x - view.from) / (view.until - view.from);
        const below = (up - view.low) / (view.high - view.low);
        look(x - left * width, x + (1 - left) * width, up - below * height,
            up + (1 - below) * height);
    }

    const zoomMiddle = (factor) =>
        zoom(factor, (view.from + view.until) / 2, (view.low + view.high) / 2);

    // The whole run; where no heap comes to its end, as far as the last of them does.
    function opening() {
        const ends = told.heaps.map(({own}) => (own.refused ? own.refused.event : told.events));
        const last = Math.max(...ends);
        look(0, across(last < told.events ? Math.min(told.events, Math.ceil(last * 1.15))
            : told.events), 0, 1);
    }

    // Around the first request that is refused, or the peak: a hundredth of the run.
    function lookAt(event) {
        const reach = Math.max(told.events / 100, 20);
        look(across(Math.max(0, Math.floor(event - reach))),
            across(Math.min(told.events, Math.ceil(event + reach))), 0, 1);
    }

    function showLegend() {
        const {names} = told[byId("colour").value];
        byId("legend").replaceChildren(...names.map((name, colour) => {
            const entry = document.createElement("li");
            const swatch = document.createElement("span");
            swatch.style.background = `var(${COLOURS[colour]})`;
            entry.append(swatch, name);
            return entry;
        }));
    }

    function outcome({name}, state) {
        const {refused} = state;
        if (!refused) {
            return told.is_dump ? `${name}, as it was dumped.` : `${name} serves every request.`;
        }
        return `${name} runs out of memory at ${eventText(refused.event)}, a request for `
            + `${bytes(refused.size)}: ${bytes(refused.live)} are live and ${bytes(refused.free)} free; `
            + `the largest free block has ${bytes(refused.largest_hole)}.`;
    }

    function tellRegion() {
        const slider = byId("region");
        chosen = byId("own").checked ? null : Number(slider.value);
        const heaps = told.heaps;
        byId("told-region").textContent = chosen === null
            ? heaps.map((heap) => `In ${bytes(heap.own.region)} ${outcome(heap, heap.own)}`).join(" ")
            : [`In ${bytes(heaps[0].row[chosen].region)}:`,
                ...heaps.map((heap) => outcome(heap, heap.row[chosen]))].join(" ");
        slider.setAttribute("aria-valuetext", byId("told-region").textContent);
        heaps.forEach((heap, i) => {
            byId(`size-${i}`).textContent = bytes(stateOf(i).region);
        });
    }

    function showRegion() {
        tellRegion();
        drawAll();
    }

    function tellAxis() {
        byTime = byId("axis").value === "time";
        byId("axis-name").textContent = byTime ? "milliseconds since the first event" : "events";
    }

    function showAxis() {
        tellAxis();
        whole();
    }

    function save() {
        const lines = ["heap,region,offset,size,from_event,until_event,call_site"];
        for (const {heap, places} of panels) {
            places.forEach((place, i) => place < told.height
                && lines.push([`"${told.heaps[heap].name}"`, stateOf(heap).region, place,
                    panels[heap].sizeOf(i), starts[i], ends[i],
                    told.sites ? `"${told.sites.labels[columns.sites[i]]}"` : ""].join(",")));
        }
        saveText("heap-map.csv", lines.join("\n") + "\n");
    }

    function listen() {
        const on = (name, kind, act) => byId(name).addEventListener(kind, act);
        on("colour", "change", () => { showLegend(); drawAll(); });
        on("axis", "change", showAxis);
        on("region", "input", () => {
            byId("own").checked = false;
            tellRegion();
            drawSoon();
        });
        on("own", "change", showRegion);
        on("whole", "click", whole);
        on("in", "click", () => zoomMiddle(0.5));
        on("out", "click", () => zoomMiddle(2));
        on("peak", "click", () => lookAt(told.heaps.at(-1).peak));
        on("refusal", "click", () => {
            const refused = told.heaps.map((_, heap) => stateOf(heap).refused).find((one) => one);
            lookAt(refused ? refused.event : told.heaps.at(-1).peak);
        });
        on("save", "click", save);
        dark.addEventListener("change", drawAll);
        addEventListener("resize", drawAll);
        for (const kind of ["beforeprint", "afterprint"]) {
            addEventListener(kind, () => setTimeout(drawAll));
        }
    }

    async function begin() {
        await unpack();
        settle();
        told.heaps.forEach((_, heap) => panels.push(new Panel(heap)));
        byId("controls").hidden = false;
        listen();
        showLegend();
        tellAxis();
        tellRegion();
        opening();
        document.getElementById("heap-map").dataset.isDrawn = "";
        placeAll();
    }

    begin();
}
