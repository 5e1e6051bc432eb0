// SPDX-License-Identifier: Apache-2.0
// Scales and ticks of a chart, and numbers as its figures ask for them (figure.py).
"use strict";

const SI = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
const grouped = (value, digits = 0) => value.toLocaleString("en",
    {minimumFractionDigits: digits, maximumFractionDigits: digits});
const plain = (value) => (Number.isInteger(value) ? grouped(value)
    : value.toLocaleString("en", {maximumSignificantDigits: 6}));

// A number by one of the specifications that figures use, of d3's language: ",d" ".0%" "~s" ...
function formed(value, spec) {
    if (typeof value !== "number") {
        return `${value}`;
    }
    const parts = /^,?(?:\.(\d+))?~?([a-z%]?)$/.exec(spec ?? "");
    const [digits, kind] = parts ? [parts[1], parts[2]] : [undefined, ""];
    if (kind === "%") {
        return `${grouped(value * 100, Number(digits ?? 1))} %`;
    }
    if (kind === "d" || kind === "f") {
        return grouped(value, Number(digits ?? 0));
    }
    if (kind === "s") {
        const [factor, prefix] = SI.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
        return `${+(value / factor).toPrecision(4)}${prefix && ` ${prefix}`}`;
    }
    return digits ? value.toLocaleString("en", {maximumSignificantDigits: Number(digits)})
        : plain(value);
}

const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function powerOfTen(value) {
    const power = Math.round(Math.log10(value));
    const digits = [...`${Math.abs(power)}`].map((digit) => POWERS[digit]).join("");
    return power === 0 ? "1" : `10${power < 0 ? "⁻" : ""}${digits}`;
}

// Of at most so many ticks the least step of 1, 2 or 5 times a power of ten.
function niceStep(width, most) {
    const least = width / Math.max(most, 1);
    const power = 10 ** Math.floor(Math.log10(least));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9));
}

// One axis: where values lie between two ends in pixels, and its ticks.
class Axis {
    constructor(given, values, ends, room = 0.04) {
        this.given = given;
        this.room = room; // on both sides, as a share of what is there
        this.ends = ends;
        const isText = values.some((value) => typeof value === "string");
        this.isCategory = given.type === "category" || isText;
        this.isLog = given.type === "log";
        this.categories = this.isCategory ? [...new Set(values.map(String))] : [];
        const known = values.filter((value) => typeof value === "number"
            && Number.isFinite(value) && (!this.isLog || value > 0));
        [this.low, this.high] = this.isCategory ? [-0.5, this.categories.length - 0.5]
            : this.range(known);
        if (given.autorange === "reversed") {
            this.ends = [ends[1], ends[0]];
        }
    }

    // The ends in what is linear on the page: decades of a logarithmic axis.
    range(known) {
        if (this.given.range && this.given.autorange !== true) {
            return this.given.range;
        }
        const linear = known.map((value) => this.linear(value));
        let [low, high] = linear.length ? [Math.min(...linear), Math.max(...linear)] : [0, 1];
        const room = (high - low || Math.abs(high) || 1) * this.room;
        const fromZero = this.given.rangemode === "tozero" && !this.isLog;
        low = fromZero && low >= 0 ? 0 : low - room;
        return [low, high + room];
    }

    linear(value) {
        if (this.isCategory) {
            return typeof value === "number" ? value : this.categories.indexOf(`${value}`);
        }
        return this.isLog ? Math.log10(value) : value;
    }

    at(value) {
        const share = (this.linear(value) - this.low) / (this.high - this.low);
        return this.ends[0] + share * (this.ends[1] - this.ends[0]);
    }

    // The value at a pixel.
    under(pixel) {
        const share = (pixel - this.ends[0]) / (this.ends[1] - this.ends[0]);
        const linear = this.low + share * (this.high - this.low);
        return this.isLog ? 10 ** linear : linear;
    }

    // [place in pixels, text] of each tick, about one in so many pixels.
    ticks(pixels) {
        const most = this.given.nticks ?? Math.abs(this.ends[1] - this.ends[0]) / pixels;
        return this.values(most)
            .map((value, i) => [this.at(value), this.text(value, i)])
            .filter(([place]) => place >= Math.min(...this.ends) - 0.5
                && place <= Math.max(...this.ends) + 0.5);
    }

    values(most) {
        if (this.given.tickvals) {
            return this.given.tickvals;
        }
        if (this.isCategory) {
            const every = Math.ceil(this.categories.length / Math.max(most, 1));
            return this.categories.filter((_, i) => i % every === 0);
        }
        const [low, high] = [Math.min(this.low, this.high), Math.max(this.low, this.high)];
        return this.isLog ? this.decades(low, high, most) : this.steps(low, high, most);
    }

    steps(low, high, most) {
        const {dtick} = this.given;
        const step = typeof dtick === "number" ? dtick : niceStep(high - low, most);
        const values = [];
        for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
            values.push(+(i * step).toPrecision(12));
        }
        return values;
    }

    // Powers of ten; with 2 and 5 times them where there is room; even steps where none of these lies.
    decades(low, high, most) {
        const factors = 3 * (high - low) <= most && this.given.dtick !== 1 ? [1, 2, 5] : [1];
        const values = [];
        for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
            values.push(...factors.map((factor) => factor * 10 ** power));
        }
        const inside = values.filter((value) => Math.log10(value) >= low - 1e-9
            && Math.log10(value) <= high + 1e-9);
        return inside.length > 1 ? inside : this.steps(10 ** low, 10 ** high, most);
    }

    text(value, i) {
        if (this.given.ticktext) {
            return this.given.ticktext[i];
        }
        return this.given.exponentformat === "power" ? powerOfTen(value)
            : formed(value, this.given.tickformat);
    }
}
