// SPDX-License-Identifier: Apache-2.0
// The page: who is shown, and the pictures in their places. Every picture follows each choice.
// The functions that draw are in forms.js, which stands before this.
"use strict";

const shown = {choices: new Set(data.choices.keys()), application: ""};

// ---- choosing

function visible(picture) {
    const keys = picture.columns.map(column => column.key);
    const who = keys.indexOf("config"),
        app = keys.indexOf("app");
    return rows =>
        rows.filter(
            row =>
                (who < 0 || shown.choices.has(row[who])) &&
                (app < 0 || !shown.application || row[app] === shown.application),
        );
}

function group(kind) {
    const mine = [...data.choices.entries()].filter(([, one]) => one.kind === kind);
    const boxes = mine.map(([number, one]) => {
        const box = make("input", {
            type: "checkbox",
            id: `choice-${number}`,
            checked: true,
            onchange: () => {
                shown.choices[box.checked ? "add" : "delete"](number);
                draw();
            },
        });
        return make("label", {}, box, " ", mark(lookOf(number)), " ", one.name);
    });
    return make("fieldset", {}, make("legend", {}, kind), ...boxes);
}

function choose(wanted) {
    for (const [number, one] of data.choices.entries()) {
        shown.choices[wanted(one) ? "add" : "delete"](number);
        document.getElementById(`choice-${number}`).checked = wanted(one);
    }
    draw();
}

function select(id, label, every, names, onchange) {
    const options = [
        make("option", {value: ""}, every),
        ...names.map(name => make("option", {value: name}, name)),
    ];
    const node = make("select", {id, onchange: () => onchange(node.value)}, ...options);
    return make("label", {}, `${label} `, node);
}

function controls() {
    const bar = document.getElementById("choices");
    const layers = [...new Set(data.choices.map(one => one.layer))].filter(Boolean);
    if (layers.length > 1) {
        // Results that know no layer stay: nobody asked for less of them.
        bar.append(
            select("layer", "layer or policy", "all", layers, name =>
                choose(one => !name || !one.layer || one.layer === name),
            ),
        );
    }
    if (data.applications.length) {
        bar.append(
            select("application", "application or flow", "all", data.applications, name => {
                shown.application = name;
                draw();
            }),
        );
    }
    bar.append(...[...new Set(data.choices.map(one => one.kind))].map(group));
    if (data.choices.length > 2) {
        bar.append(
            make(
                "span",
                {},
                make(
                    "button",
                    {type: "button", id: "all", onclick: () => choose(() => true)},
                    "all",
                ),
                " ",
                make(
                    "button",
                    {type: "button", id: "none", onclick: () => choose(() => false)},
                    "none",
                ),
            ),
        );
    }
    document.getElementById("choose").hidden =
        !bar.children.length || (data.choices.length < 2 && !data.applications.length);
    document.getElementById("scheme").addEventListener("change", event => {
        document.documentElement.dataset.scheme = event.target.value;
    });
}

// ---- cards

// A picture with its place on the page: `sift` takes what is chosen, `paint` draws it.
function card(plain) {
    inChoiceOrder(plain);
    if (plain.table) inChoiceOrder(plain.table);
    const id = `picture-${plain.key}`;
    const text = make("p", {}, plain.says),
        key = make("div"),
        box = make("div", {class: "panels"});
    const inside = make("div"),
        more = make("details", {ontoggle: () => fill()}, make("summary", {}, "as a table"), inside);
    const node = make(
        "figure",
        {id, role: "group", "aria-labelledby": `${id}-title`},
        make("h3", {id: `${id}-title`}, plain.title),
        text,
        key,
        box,
        more,
    );
    let last = null;
    const fill = () => {
        if (more.open && last)
            inside.replaceChildren(
                table(last, plain.table ? besides(plain.table.rows) : last.rows),
            );
    };
    const filter = visible(plain);
    const besides = plain.table && visible(plain.table);
    const count = plain.channels.panel ? new Set(plain.rows.map(unfold(plain).read.panel)).size : 1;
    node.classList.toggle("wide", count > 1);
    const sift = () => {
        const based = plain.of_first ? ofFirst(plain, filter(plain.rows)) : filter(plain.rows);
        const told = besides ? besides(plain.table.rows) : [];
        last = unfold({...plain, every: plain.rows, rows: based, told});
        if (plain.of_first && based.length) {
            const {name} = data.choices[based[0][last.at.config]];
            text.textContent = last.says = plain.says.replace("{first}", () => name);
        }
        node.dataset.rows = last.rows.length;
        fill();
    };
    const paint = () => {
        if (!last.rows.length) return nothing(key, box);
        last.series = series(last);
        if (plain.form === "cells")
            last.steps = steps(last.rows.map(row => row[last.at[plain.channels.value]]));
        key.replaceChildren(legend(last));
        panels(last, last.rows, box);
    };
    return {node, sift, paint};
}

// Each value of x over that of the first configuration shown; what that has not is left out.
function ofFirst(picture, rows) {
    const {at, channels} = unfold(picture);
    const group = at[picture.of_first],
        x = at[channels.x];
    const first = d3.min(rows, row => row[at.config]);
    const bases = new Map(
        rows.filter(row => row[at.config] === first).map(row => [row[group], row[x]]),
    );
    return rows
        .filter(row => bases.has(row[group]))
        .map(row => row.with(x, +(row[x] / bases.get(row[group])).toPrecision(6)));
}

// Configurations stand in every table as they do at the top, in whatever order files were given.
function inChoiceOrder(told) {
    const who = told.columns.findIndex(column => column.key === "config");
    if (who >= 0) told.rows = d3.sort(told.rows, row => row[who]);
}

function nothing(key, box) {
    key.replaceChildren();
    box.replaceChildren(make("p", {}, "Nothing of this choice is in this picture."));
}

// ---- two figures against each other

// Whether nobody is as good in both figures and better in one.
function onFront(point, points, x, y) {
    const sign = figure => (figure.better === "more" ? -1 : 1);
    const worth = one => [sign(x) * one.x, sign(y) * one.y];
    const [mine, other] = worth(point);
    return !points.map(worth).some(([a, b]) => a <= mine && b <= other && (a < mine || b < other));
}

function against(sheet, number) {
    const figures = sheet.figures.filter(
        one => new Set(one.values.filter(value => value !== null)).size > 1,
    );
    const ram = figures.findIndex(one => one.label === "RAM");
    const chosen = {x: ram > 0 ? ram : 1, y: 0};
    const id = `against-${number}`,
        key = make("div"),
        box = make("div", {class: "panels"}),
        inside = make("div");
    const axes = make(
        "div",
        {class: "axes"},
        ...["x", "y"].map(name => {
            const list = make(
                "select",
                {
                    id: `${id}-${name}`,
                    onchange: () => {
                        chosen[name] = Number(list.value);
                        sift();
                        paint();
                    },
                },
                ...figures.map((one, i) =>
                    make("option", {value: i, selected: i === chosen[name]}, one.label),
                ),
            );
            return make("label", {}, name === "x" ? "to the right " : "upwards ", list);
        }),
    );
    const says = "Filled: nobody is as good in both and better in one. Hollow: another one is.";
    const node = make(
        "figure",
        {id, role: "group", "aria-labelledby": `${id}-title`},
        make(
            "h3",
            {id: `${id}-title`},
            "Two figures against each other" + (data.sheets.length > 1 ? `: ${sheet.title}` : ""),
        ),
        make("p", {}, says),
        axes,
        key,
        box,
        make("details", {}, make("summary", {}, "as a table"), inside),
    );
    let picture = null;
    const sift = () => {
        const [x, y] = [figures[chosen.x], figures[chosen.y]];
        const points = sheet.choices
            .map((who, i) => ({who, x: x.values[i], y: y.values[i]}))
            .filter(one => shown.choices.has(one.who) && one.x !== null && one.y !== null);
        node.dataset.rows = points.length;
        const rows = points.map(one => [
            one.who,
            one.x,
            one.y,
            onFront(one, points, x, y) ? "yes" : "no",
        ]);
        const columns = [
            {key: "config", label: "configuration", unit: ""},
            {key: "x", label: x.label, unit: x.unit},
            {key: "y", label: y.label, unit: y.unit},
            {key: "front", label: "on the front", unit: ""},
        ];
        const title = `${y.label} against ${x.label}`;
        picture = unfold({
            form: "dots",
            title,
            says,
            columns,
            rows,
            log: "",
            rule: null,
            table: null,
            channels: {x: "x", y: "y", colour: "config"},
            hollow: row => row[3] === "no",
        });
        inside.replaceChildren(table(picture, rows));
    };
    const paint = () => {
        if (!picture.rows.length) return nothing(key, box);
        picture.series = series(picture);
        key.replaceChildren(legend(picture));
        panels(picture, picture.rows, box);
    };
    return figures.length > 1 && sheet.choices.length > 2 ? {node, sift, paint} : null;
}

// ---- the page

// Only pictures near what is seen are drawn: a page of many opens as fast as one of few.
const drawings = [],
    near = new Set(),
    stale = new Set();

function paintNear() {
    for (const one of drawings)
        if (stale.has(one) && near.has(one.node) && stale.delete(one)) one.paint();
}

function paintAll() {
    for (const one of stale) one.paint();
    stale.clear();
}

function draw() {
    for (const node of document.querySelectorAll("[data-choice]")) {
        node.hidden = !shown.choices.has(Number(node.dataset.choice));
    }
    for (const one of drawings) {
        one.sift();
        stale.add(one);
    }
    paintNear();
}

function watch() {
    const observer = new IntersectionObserver(
        seen => {
            for (const one of seen) near[one.isIntersecting ? "add" : "delete"](one.target);
            paintNear();
            document.documentElement.dataset.drawn = "yes";
        },
        {rootMargin: "800px 0px"},
    );
    for (const one of drawings) observer.observe(one.node);
    addEventListener("beforeprint", () => {
        document.documentElement.classList.add("paper");
        draw();
        paintAll();
    });
    addEventListener("afterprint", () => document.documentElement.classList.remove("paper"));
    let width = document.body.clientWidth;
    new ResizeObserver(() => {
        if (document.body.clientWidth !== width) {
            width = document.body.clientWidth;
            draw();
        }
    }).observe(document.body);
    const scrolled = new ResizeObserver(seen => {
        for (const {target} of seen) {
            const box = target.parentElement;
            box.nextElementSibling.hidden = box.scrollWidth <= box.clientWidth;
        }
    });
    for (const one of document.querySelectorAll(".sheets .scroll > table")) scrolled.observe(one);
    if (!drawings.length) document.documentElement.dataset.drawn = "yes";
}

// Two cards go in a row: one that has no neighbour takes it all.
function fillRows(cards) {
    let open = null;
    for (const one of cards) {
        const wide = one.classList.contains("wide");
        if (wide && open) open.classList.add("wide");
        open = wide || open ? null : one;
    }
    if (open) open.classList.add("wide");
}

function begin() {
    controls();
    const place = document.getElementById("pictures");
    place.replaceChildren();
    for (const [section, pictures] of d3.group(data.pictures, one => one.section)) {
        const id = `section-${section.toLowerCase().replace(/[^a-z]+/g, "-")}`;
        const cards = make("div", {class: "cards"});
        const sheets = section === "Side by side" ? data.sheets : [];
        const mine = [...pictures.map(card), ...sheets.map(against).filter(Boolean)];
        cards.append(...mine.map(one => one.node));
        drawings.push(...mine);
        fillRows([...cards.children]);
        place.append(make("section", {"aria-labelledby": id}, make("h2", {id}, section), cards));
    }
    draw();
    watch();
}

begin();
