// SPDX-License-Identifier: Apache-2.0
// Draws rows as pictures and tables: what a value reads like, what a mark looks like, and a
// function for each form of picture (nandwich/report/book.py). page.js arranges them.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const COLOURS = 8,
    NARROW = 560,
    TABLE_MOST = 2000;
const SHAPES = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"].map(
    name => d3["symbol" + name[0].toUpperCase() + name.slice(1)],
);
// Beside the name of a figure: where better marks lie.
const ARROWS = {less: "\u2190", lower: "\u2190", more: "\u2192", higher: "\u2192"};
const HEAT = d3.range(7).map(i => `var(--h${i})`);

// Few steps are as far apart as the palette is wide.
const heat = (i, count) => HEAT[Math.round((i * (HEAT.length - 1)) / Math.max(1, count - 1))];

// ---- values as people read them

const YEAR = 365 * 86400e9;
const STEPS = {
    ns: [
        [1, "ns"],
        [1e3, "us"],
        [1e6, "ms"],
        [1e9, "s"],
        [3600e9, "h"],
        [86400e9, "days"],
        [YEAR, "years"],
    ],
    pJ: [
        [1, "pJ"],
        [1e3, "nJ"],
        [1e6, "uJ"],
        [1e9, "mJ"],
        [1e12, "J"],
        [1e15, "kJ"],
    ],
    B: [
        [1, "B"],
        [1024, "KiB"],
        [1048576, "MiB"],
        [1073741824, "GiB"],
        [1099511627776, "TiB"],
    ],
};

function told(value, unit) {
    if (value === null || value === undefined) return "-";
    if (typeof value !== "number") return String(value);
    let name = unit;
    if (unit === "us") [value, unit] = [value * 1000, "ns"];
    if (value === 0) name = "";
    else if (STEPS[unit]) {
        // Seconds reach far: 3600 s is no shorter than 1 h, and easier beside 90 s.
        const fits = step => Math.abs(value) >= step[0] * (step[1] === "h" ? 3 : 1);
        const [size, text] = STEPS[unit].filter(fits).pop() ?? STEPS[unit][0];
        [value, name] = [value / size, text];
    }
    const digits =
        Math.abs(value) >= 1000 ? d3.format(",.0f")(value) : String(+value.toPrecision(4));
    return name ? `${digits} ${name}` : digits;
}

function cell(column, value) {
    return column.key === "config" ? data.choices[value].name : told(value, column.unit);
}

// ---- elements

function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
        else if (value === true) node.setAttribute(key, "");
        else if (value !== false) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
}

// A mark as it stands in the pictures: colour and shape both tell who it is.
function mark(look) {
    const svg = d3
        .create("svg")
        .attr("class", "mark")
        .attr("viewBox", "-7 -7 14 14")
        .attr("aria-hidden", "true");
    svg.append("path").attr("d", d3.symbol(look.shape, 90)()).attr("fill", look.colour);
    return svg.node();
}

// `kind`: "c" of configurations, "p" of parts, which have colours of their own.
function look(index, kind = "c") {
    return {colour: `var(--${kind}${index % COLOURS})`, shape: SHAPES[index % SHAPES.length]};
}

// Configurations of a verb have its colours in their order, on every picture.
const places = new Map();
for (const kind of new Set(data.choices.map(one => one.kind))) {
    data.choices
        .filter(one => one.kind === kind)
        .forEach((one, i) => places.set(one.name + "\n" + kind, i));
}
const lookOf = number => {
    const one = data.choices[number];
    return look(places.get(one.name + "\n" + one.kind));
};

// ---- pictures

// Rows as objects, with what the drawing needs to know of them.
function unfold(picture) {
    const {columns, channels} = picture;
    const at = Object.fromEntries(columns.map((column, i) => [column.key, i]));
    const column = name => columns[at[channels[name]]];
    const value = name =>
        channels[name] === undefined
            ? () => undefined
            : channels[name] === "config"
              ? row => data.choices[row[at.config]].name
              : row => row[at[channels[name]]];
    const read = {x: value("x"), y: value("y"), colour: value("colour"), panel: value("panel")};
    const title = row => columns.map((one, i) => `${one.label}: ${cell(one, row[i])}`).join("\n");
    return {...picture, at, column, read, title};
}

const inOrder = rows => at =>
    [...new Set(rows.map(row => row[at]))].sort((one, other) => one - other);

// What colours stand for, in their order: [name, look].
function series(picture) {
    const {channels, rows, read} = picture;
    if (channels.colour === undefined) return [];
    if (channels.colour === "config") {
        return inOrder(rows)(picture.at.config).map(number => [
            data.choices[number].name,
            lookOf(number),
        ]);
    }
    const known = picture.order.length
        ? picture.order
        : [...new Set(picture.every.map(read.colour))];
    const used = new Set(rows.map(read.colour));
    return known.map((name, i) => [name, look(i, "p")]).filter(([name]) => used.has(name));
}

function axis(column, log, size) {
    const ticks = Math.max(2, Math.floor(size / (column.unit ? 90 : 70)));
    const scale = {
        label: column.label,
        labelArrow: "none",
        tickFormat: value => told(value, column.unit),
        ticks,
    };
    return log
        ? {...scale, type: "log", ...(column.unit === "B" ? {base: 2} : {})}
        : {...scale, nice: true};
}

// The ends of an axis; room around values that lie so close that their marks would be all of it.
function reach(values, log) {
    const [low, high] = d3.extent(values);
    if (!log || low <= 0 || high > 1.5 * low) return [low, high];
    return [low / 2, 2 * high];
}

// Steps of whole KiB, days or years, where round decimal numbers of B or ns would be none.
function wholeSteps(column, values, count) {
    const most = d3.max(values);
    const unit =
        column.unit !== "ns" ? 0 : most >= 2 * YEAR ? YEAR : most >= 3 * 86400e9 ? 86400e9 : 0;
    if (column.unit !== "B" && !unit) return {};
    const step = unit
        ? unit * d3.tickStep(0, most / unit, count)
        : 2 ** Math.ceil(Math.log2(most / count));
    return {ticks: d3.range(0, most + step, step), nice: false, domain: [0, most]};
}

// Powers of two; parts of one where the values lie close together.
function powers(column, values, count) {
    const [low, high] = reach(values, true),
        least = Math.floor(Math.log2(low));
    const all = d3.range(least, Math.log2(high) + 1).map(power => 2 ** power);
    const step = 2 ** (least - 2),
        near = all.length > 3;
    const ticks = (
        near ? all : d3.range(Math.floor(low / step) * step, high + step, step)
    ).filter(tick => tick >= low && tick <= high);
    return {ticks: ticks.filter((_, i) => i % Math.ceil(ticks.length / count) === 0)};
}

// All panels have the same x.
// Ticks of an axis of ratios, as fine as there is room for, with one at each end.
const FINE = [
    [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9],
    [1, 1.5, 2, 3, 5, 7],
    [1, 2, 5],
    [1],
];
function factors(column, values, _, width) {
    if (column.unit) return {};
    const count = Math.max(3, Math.floor(width / 45));
    const [low, high] = reach(values, true);
    const powers = d3.range(Math.floor(Math.log10(low)), Math.log10(high) + 1);
    // d3 leaves out labels that lie far from a power of the base.
    const far = high > 2000 * low,
        base = far ? 10 : 2;
    let ticks = [];
    for (const steps of far ? FINE.slice(-1) : FINE) {
        const all = powers.flatMap(power =>
            steps.map(step => +(step * 10 ** power).toPrecision(2)),
        );
        const last = all.findIndex(tick => tick >= high);
        ticks = all.slice(d3.bisectRight(all, low) - 1, last < 0 ? all.length : last + 1);
        if (ticks.length <= count) return {ticks, base, domain: d3.extent(ticks)};
    }
    const each = Math.ceil((ticks.length - 1) / Math.max(1, count - 1));
    const some = ticks.filter((_, i) => i % each === 0);
    if (some.at(-1) < high) some.push(some.at(-1) * 10 ** each);
    return {ticks: some, base, domain: d3.extent(some)};
}

function across(picture, width) {
    const column = picture.column("x"),
        values = picture.rows.map(picture.read.x);
    const log = picture.log.includes("x"),
        scale = axis(column, log, width);
    const ticks = !log ? wholeSteps : column.unit === "B" ? powers : factors;
    const steps = ticks(column, values, scale.ticks, width);
    return {domain: reach(values, log), ...scale, ...steps, labelAnchor: "center", grid: true};
}

function base(picture, width, height) {
    const found = picture.series;
    return {
        width,
        height,
        style: {
            background: "none",
            fontSize: "12px",
            fontFamily: "inherit",
            overflow: "visible",
        },
        color: {
            type: "ordinal",
            domain: found.map(one => one[0]),
            range: found.map(one => one[1].colour),
        },
    };
}

const ends = names => Math.min(190, 14 + 7 * d3.max(names, name => String(name).length));
const short = name => (String(name).length > 25 ? String(name).slice(0, 23) + "…" : name);

// Values close to each other have an axis of their own; one value alone stands on zero.
function fromZero(picture, rows) {
    const y = picture.read.y;
    return (
        !picture.log.includes("y") &&
        (2 * d3.min(rows, y) < d3.max(rows, y) || new Set(rows.map(y)).size === 1)
    );
}

const tip = (rows, picture, more) =>
    Plot.tip(
        rows,
        Plot.pointer({
            ...more,
            title: picture.title,
            fill: "var(--paper)",
            stroke: "var(--line)",
            fontSize: 12,
        }),
    );

const forms = {
    bars(picture, rows, width) {
        const {read, column} = picture;
        // All panels have a line for each configuration, also where a bar has no length.
        const names =
            picture.channels.y === "config"
                ? inOrder(picture.rows)(picture.at.config).map(number => data.choices[number].name)
                : [...new Set(rows.map(read.y))];
        const left = ends(names),
            x = axis(column("x"), false, width - left - 24);
        const sums = [...d3.rollup(rows, some => d3.sum(some, read.x), read.y).values()];
        const marked = {x: read.x, y: read.y, fill: read.colour};
        const stacked = Plot.stackX(marked);
        return Plot.plot({
            ...base(picture, width, 60 + 26 * names.length),
            marginLeft: left,
            marginRight: 24,
            marginBottom: 40,
            x: {
                ...x,
                labelAnchor: "center",
                grid: true,
                ...wholeSteps(column("x"), sums, x.ticks),
                ...(column("x").unit === "%" ? {domain: [0, 100]} : {}),
            },
            y: {label: null, domain: names, tickFormat: short, tickSize: 0, padding: 0.25},
            marks: [
                Plot.barX(rows, {...stacked, insetRight: 1}),
                Plot.ruleX([0]),
                tip(rows, picture, Plot.stackX({x: read.x, y: read.y})),
            ],
        });
    },
    columns(picture, rows, width) {
        const {read, column} = picture;
        const values = rows.map(read.x),
            low = d3.min(values),
            high = d3.max(values);
        const each = Math.max(1, Math.ceil((high - low + 1) / 80));
        const from = row => low + each * Math.floor((read.x(row) - low) / each);
        const boxes = [...d3.rollup(rows, some => d3.sum(some, read.y), from, read.colour)].flatMap(
            ([begin, parts]) => [...parts].map(([part, sum]) => ({begin, part, sum})),
        );
        const reach = box => (each > 1 ? ` to ${box.begin + each - 1}` : "");
        const options = Plot.stackY({
            x1: box => box.begin - 0.5,
            x2: box => box.begin + each - 0.5,
            y: "sum",
            fill: "part",
            title: box =>
                `${column("x").label}: ${box.begin}${reach(box)}\n` +
                `${box.part}\n${column("y").label}: ${told(box.sum, column("y").unit)}`,
        });
        return Plot.plot({
            ...base(picture, width, 200),
            marginLeft: 64,
            marginRight: 12,
            marginBottom: 40,
            x: {
                ...axis(column("x"), false, width - 76),
                labelAnchor: "center",
                nice: false,
                domain: [low - 0.5, high + 0.5],
                ticks: d3.range(low, high + 1, Math.ceil((high - low + 1) / 8)),
            },
            y: {...axis(column("y"), false, 240), grid: true},
            marks: [
                Plot.rectY(boxes, {
                    ...options,
                    insetLeft: 0.5,
                    insetRight: 0.5,
                    tip: {fill: "var(--paper)"},
                }),
                Plot.ruleY([0]),
            ],
        });
    },
    lines(picture, rows, width) {
        const {read, column, log} = picture;
        const marks = [];
        for (const [name, {colour, shape}] of picture.series) {
            const mine = rows.filter(row => read.colour(row) === name);
            const each = Math.ceil(mine.length / 10);
            const place = {x: read.x, y: read.y};
            marks.push(
                Plot.line(mine, {
                    ...place,
                    stroke: colour,
                    strokeWidth: 2,
                    curve: picture.curve,
                }),
            );
            marks.push(
                Plot.dot(
                    mine.filter((_, i) => i % each === 0),
                    {...place, fill: colour, symbol: shape, r: 4},
                ),
            );
        }
        return Plot.plot({
            ...base(picture, width, 290),
            marginLeft: 76,
            marginRight: 24,
            marginBottom: 40,
            x: across(picture, width - 100),
            y: {
                ...axis(column("y"), log.includes("y"), 330),
                grid: true,
                zero: fromZero(picture, rows),
            },
            marks: [...marks, tip(rows, picture, {x: read.x, y: read.y})],
        });
    },
    dots(picture, rows, width) {
        const {read, column, log} = picture;
        const named = typeof read.y(rows[0]) === "string",
            names = [...new Set(rows.map(read.y))];
        const left = named ? ends(names) + 14 : 72;
        const arrows = new Map(
            rows.map(row => [read.y(row), ARROWS[row[picture.at.better]] ?? ""]),
        );
        // Marks of several configurations in a line stand a little above one another.
        const many = picture.series.length - 1,
            apart = !named || picture.channels.colour !== "config" ? 0 : many < 4 ? 8 : 5;
        const dy = name => apart * (picture.series.findIndex(one => one[0] === name) - many / 2);
        const y = named
            ? {
                  label: null,
                  domain: names,
                  tickFormat: name => `${short(name)} ${arrows.get(name) ?? ""}`,
                  tickSize: 0,
                  grid: true,
                  type: "point",
              }
            : {
                  ...axis(column("y"), log.includes("y"), 330),
                  grid: true,
                  zero: fromZero(picture, rows),
              };
        const looks = new Map(picture.series),
            hollow = picture.hollow ?? (() => false);
        const place = {
            x: read.x,
            y: read.y,
            r: apart ? 5 : 6,
            stroke: read.colour,
            strokeWidth: 1.5,
            symbol: {value: row => looks.get(read.colour(row)).shape, scale: null},
        };
        return Plot.plot({
            ...base(picture, width, named ? 70 + (24 + apart * many) * names.length : 310),
            marginLeft: left,
            marginRight: 40,
            marginBottom: 40,
            inset: 8,
            x: across(picture, width - left - 40),
            y,
            marks: [
                picture.rule === null ? null : Plot.ruleX([picture.rule], {strokeWidth: 1.5}),
                ...picture.series.flatMap(([name]) => {
                    const mine = rows.filter(row => read.colour(row) === name);
                    const moved = {...place, dy: dy(name)};
                    return [
                        picture.joined
                            ? Plot.line(mine, {...moved, curve: "linear", strokeOpacity: 0.6})
                            : null,
                        Plot.dot(
                            mine.filter(row => !hollow(row)),
                            {...moved, fill: read.colour},
                        ),
                        Plot.dot(mine.filter(hollow), {...moved, fill: "none"}),
                    ];
                }),
                tip(rows, picture, {x: read.x, y: read.y}),
            ],
        });
    },
    cells(picture, rows, width) {
        const {at, wide, steps} = picture;
        const first = at[picture.channels.place],
            value = at[picture.channels.value];
        const each = rows.length > 1 ? rows[1][first] - rows[0][first] : 1;
        const across = Math.min(wide, rows.length),
            down = Math.ceil(rows.length / across);
        const side = Math.max(3, Math.min(16, Math.floor((width - 60) / across)));
        const place = row => Math.floor(row[first] / each);
        return Plot.plot({
            width: 60 + side * across,
            height: 8 + Math.max(side * down, 24),
            margin: 4,
            marginLeft: 52,
            style: {
                background: "none",
                fontSize: "12px",
                fontFamily: "inherit",
                overflow: "visible",
            },
            x: {axis: null},
            color: {
                type: "threshold",
                domain: steps.slice(1),
                range: steps.map((_, i) => heat(i, steps.length)),
            },
            y: {
                label: null,
                tickSize: 0,
                ticks: d3.range(0, down, Math.max(1, Math.ceil(28 / side))),
                tickFormat: row => told(row * across * each),
            },
            marks: [
                Plot.cell(rows, {
                    x: row => place(row) % across,
                    y: row => Math.floor(place(row) / across),
                    fill: row => row[value],
                    inset: 0.5,
                    title: picture.title,
                    tip: {fill: "var(--paper)"},
                }),
            ],
        });
    },
};

// Whole steps of a value, at most as many as there are colours; short ones at the low end, where
// most blocks of an even layer lie beside a layer that wears much more.
function steps(values) {
    const most = d3.max(values),
        count = Math.min(HEAT.length, most + 1);
    return [...new Set(d3.range(count).map(i => Math.ceil((most + 1) * (i / count) ** 2)))];
}

function legend(picture) {
    if (picture.form === "cells") {
        const {steps} = picture,
            most = d3.max(picture.rows, row => row[picture.at[picture.channels.value]]);
        return make(
            "ul",
            {class: "legend"},
            ...steps.map((step, i) => {
                const last = i + 1 < steps.length ? steps[i + 1] - 1 : most;
                const text = last > step ? `${told(step)} to ${told(last)}` : told(step);
                const look = {colour: heat(i, steps.length), shape: d3.symbolSquare};
                return make("li", {}, mark(look), " ", text);
            }),
        );
    }
    const named = ["y", "panel"].some(name => picture.channels[name] === picture.channels.colour);
    if ((named && picture.form !== "lines") || picture.series.length < 2) return "";
    // Bars have no shape but their own.
    const filled = picture.form === "bars" || picture.form === "columns";
    return make(
        "ul",
        {class: "legend"},
        ...picture.series.map(([name, look]) =>
            make(
                "li",
                {},
                mark(filled ? {...look, shape: d3.symbolSquare} : look),
                " ",
                String(name),
            ),
        ),
    );
}

function table(picture, all) {
    const columns = picture.table ? picture.table.columns : picture.columns;
    const kind = (column, i) =>
        all.some(row => typeof row[i] === "number") && column.key !== "config" ? "" : "text";
    const kinds = columns.map(kind);
    const head = columns.map((column, i) =>
        make("th", {scope: "col", class: kinds[i]}, column.label),
    );
    const body = all
        .slice(0, TABLE_MOST)
        .map(row =>
            make(
                "tr",
                {},
                ...columns.map((column, i) => make("td", {class: kinds[i]}, cell(column, row[i]))),
            ),
        );
    const more =
        all.length > TABLE_MOST ? [make("p", {}, `and ${all.length - TABLE_MOST} more rows`)] : [];
    return make(
        "div",
        {
            class: "scroll",
            tabindex: "0",
            role: "region",
            "aria-label": `${picture.title}, as a table`,
        },
        make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)),
        ...more,
    );
}

// What the drawing leaves out of a panel, by configuration.
function note(picture, panel) {
    if (!picture.note) return "";
    const keys = picture.table.columns.map(column => column.key);
    const [who, where, what] = ["config", picture.channels.panel, picture.note].map(key =>
        keys.indexOf(key),
    );
    const {label, unit} = picture.table.columns[what];
    const parts = picture.told
        .filter(row => row[where] === panel && row[what] > 0)
        .map(row => `${data.choices[row[who]].name} ${told(row[what], unit)}`);
    return parts.length ? make("p", {}, `${label}: ${parts.join(", ")}`) : "";
}

function panels(picture, rows, box) {
    const ordered =
        picture.channels.panel === "config" ? d3.sort(rows, row => row[picture.at.config]) : rows;
    const groups =
        picture.channels.panel === undefined
            ? [["", rows]]
            : [...d3.group(ordered, picture.read.panel)];
    const room = Math.max(260, box.clientWidth);
    const most =
        picture.form === "cells" ? (room > 900 ? 2 : 1) : room > 900 ? 3 : room > NARROW ? 2 : 1;
    const across = Math.min(groups.length, most),
        width = Math.floor((room - 16 * (across - 1)) / across);
    box.style.minHeight = "0";
    box.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    box.replaceChildren(
        ...groups.map(([name, some]) => {
            const svg = forms[picture.form](picture, some, width);
            const heading =
                name === "" ? (picture.channels.panel === undefined ? "" : "all") : String(name);
            // One picture with one name: nobody walks through its marks, the table is for that.
            for (const node of svg.querySelectorAll("[aria-label]"))
                node.removeAttribute("aria-label");
            svg.setAttribute("role", "img");
            const title = picture.title + (heading && `, ${heading}`);
            svg.setAttribute(
                "aria-label",
                `${title}. ${picture.says} The table beside has the values.`,
            );
            const head = heading ? [make("h4", {}, heading)] : [];
            return make("div", {}, ...head, svg, note(picture, name));
        }),
    );
}
