"use strict";
// What users wrote is set as text, never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };
  const lists = { servers: null, jobs: null, queues: null };
  let head = {}, decisions = [], clock = { at: 0, heard: 0 };

  // apply takes a message in: everything, or what has changed.
  function apply(message, whole) {
    if (whole) {
      for (const name in lists) lists[name] = { order: [], items: new Map() };
      decisions = [];
    }
    clock = { at: message.clock, heard: performance.now() };
    head = message.head ?? head;
    for (const name in lists) {
      const list = lists[name], change = message[name];
      for (const item of change?.set ?? []) list.items.set(item.id, item);
      if (change?.order) {
        list.order = change.order;
        const there = new Set(list.order);
        for (const id of list.items.keys()) if (!there.has(id)) list.items.delete(id);
      }
    }
    decisions = decisions.concat(message.decisions ?? []).slice(-100);
    dirty.decisions ||= whole || Boolean(message.decisions);
  }
  const dirty = { decisions: true };

  const now = () => clock.at + (head.rate ?? 1) * (performance.now() - clock.heard) / 1000;
  const span = (s) => s < 60 ? `${Math.max(0, Math.round(s))} s` : s < 3600 ? `${Math.round(s / 60)} min` : s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${(s / 86400).toFixed(1)} d`;
  const moment = (at) => head.wall ? new Date(at * 1000).toLocaleTimeString() : `day ${Math.floor(at / 86400) + 1}, ${new Date(at * 1000).toISOString().slice(11, 16)}`;
  // day is a moment with its date, where that is another than today's.
  const day = (at) => head.wall && new Date(at * 1000).toDateString() !== new Date(now() * 1000).toDateString() ? new Date(at * 1000).toLocaleString() : moment(at);
  function starts(job) {
    const [early, late] = [day(job.early), job.late ? day(job.late) : ""];
    const when = late === early ? `at ${early}` : late ? `between ${early} and ${late}` : `after ${early}`;
    return `starts ${when}` + (job.without ? `; without ${job.without} it would be ${day(job.then)}` : "");
  }
  const percent = (x) => `${(100 * x).toFixed(1)} %`;

  // hueOf gives a job its colour by its name, so that it keeps it.
  const hues = new Map();
  function hueOf(id) {
    let hue = hues.get(id);
    if (hue === undefined) {
      let h = 2166136261;
      for (let i = 0; i < id.length; i++) h = Math.imul(h ^ id.charCodeAt(i), 16777619);
      hue = ((h >>> 0) * 137.508) % 360;
      hues.set(id, hue);
    }
    return hue;
  }
  const colour = (id) => `hsl(${hueOf(id).toFixed(0)} var(--job-chroma) var(--job-light))`;

  // Servers: one button each, made once; what is on one is its background.
  const boxes = new Map();
  let racks = "";
  function onServers() {
    const on = new Map(lists.servers.order.map((id) => [id, []]));
    for (const id of lists.jobs.order) {
      const job = lists.jobs.items.get(id);
      for (const server in job.on ?? {}) on.get(server)?.push([job, job.on[server]]);
    }
    return on;
  }
  // filled returns the kind of which most is used, and the part of it that each job has.
  function filled(server, held) {
    let best = { part: 0, used: 0, kind: 0, parts: [] };
    server.capacity.forEach((capacity, kind) => {
      const parts = held.map(([job, n]) => capacity > 0 ? n * (job.demand?.[kind] ?? 0) / capacity : 0);
      const part = parts.reduce((a, b) => a + b, 0);
      if (part > best.part || best.parts.length === 0) best = { part, kind, parts };
    });
    return best;
  }
  function drawServers() {
    const { order, items } = lists.servers, on = onServers();
    const layout = JSON.stringify(order.map((id) => [id, items.get(id).rack ?? ""]));
    if (layout !== racks) placeServers(order, items);
    racks = layout;
    for (const id of order) {
      const server = items.get(id), held = on.get(id), box = boxes.get(id);
      const sign = JSON.stringify([server, held.map(([job, n]) => [job.id, n, job.demand])]);
      if (box.sign === sign) continue;
      box.sign = sign;
      const { part, kind, parts } = filled(server, held);
      let from = 0;
      const stops = held.map(([job], i) => {
        const stop = `${colour(job.id)} ${(100 * from).toFixed(1)}% ${(100 * (from + parts[i])).toFixed(1)}%`;
        from += parts[i];
        return stop;
      });
      box.fill.style.background = stops.length ? `linear-gradient(to right, ${stops.join(", ")}, var(--empty) ${(100 * from).toFixed(1)}%)` : "";
      box.label.textContent = `${id} ${Math.round(100 * part)} %`;
      const jobs = held.map(([job, n]) => `${job.id}: ${n}`).join(", ") || "empty";
      const text = `${id}, ${server.state || "up"}, ${Math.round(100 * part)} % of ${head.kinds?.[kind] ?? "it"}; ${jobs}`;
      box.button.title = text;
      box.button.setAttribute("aria-label", text);
      box.button.classList.toggle("off", Boolean(server.state));
    }
  }
  function placeServers(order, items) {
    const groups = new Map();
    for (const id of order) {
      const rack = items.get(id).rack ?? "";
      if (!groups.has(rack)) groups.set(rack, []);
      groups.get(rack).push(id);
      if (boxes.has(id)) continue;
      const button = make("button", undefined, "server"), fill = make("span", undefined, "fill"), label = make("span", undefined, "label");
      button.type = "button";
      button.tabIndex = -1;
      button.dataset.server = id;
      button.append(fill, label);
      boxes.set(id, { button, fill, label, sign: "" });
    }
    for (const id of boxes.keys()) if (!items.has(id)) boxes.delete(id);
    const sections = [];
    for (const [rack, ids] of groups) {
      const section = make("div");
      if (groups.size > 1 || rack) section.append(make("h3", rack || "no rack"));
      const row = make("div", undefined, "rack");
      row.append(...ids.map((id) => boxes.get(id).button));
      section.append(row);
      sections.push(section);
    }
    const focused = document.activeElement?.dataset?.server;
    $("servers").className = order.length > 300 ? "most" : order.length > 64 ? "many" : "";
    $("servers").replaceChildren(...sections);
    if (focused && boxes.has(focused)) boxes.get(focused).button.focus();
    const entry = boxes.get(focused) ?? boxes.get(order[0]);
    if (entry) entry.button.tabIndex = 0;
  }
  // One server is in the order of the Tab key, and arrows go to others.
  $("servers").addEventListener("keydown", (event) => {
    const all = [...$("servers").querySelectorAll(".server")], at = all.indexOf(document.activeElement);
    if (at < 0) return;
    const width = () => {
      const top = all[at].offsetTop, parent = all[at].parentNode;
      return [...parent.children].filter((e) => e.offsetTop === top).length;
    };
    const step = { ArrowRight: () => 1, ArrowLeft: () => -1, ArrowDown: width, ArrowUp: () => -width(), Home: () => -at, End: () => all.length - 1 - at }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = all[Math.min(all.length - 1, Math.max(0, at + step()))];
    all[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  $("servers").addEventListener("click", (event) => {
    const id = event.target.closest(".server")?.dataset.server;
    if (id !== undefined) openServer(id);
  });

  // Jobs: a row each, made once and shown where it belongs.
  const size = (job) => Object.values(job.on ?? {}).reduce((a, b) => a + b, 0);
  const where = (job) => Object.keys(job.on ?? {}).sort().map((s) => `${s}:${job.on[s]}`).join(" ");
  const waits = (job) => size(job) === 0 && job.since ? now() - job.since : -1;
  const columns = [
    { name: "job", key: (j) => j.id }, { name: "state", key: (j) => j.state }, { name: "queue", key: (j) => j.queue ?? "", any: (j) => j.queue },
    { name: "place", n: true, key: (j) => j.place || Infinity, any: (j) => j.place }, { name: "waits", n: true, key: (j) => -waits(j), any: (j) => j.since },
    { name: "containers", n: true, key: (j) => -size(j) }, { name: "on", key: where },
    { name: "share / fair share", key: (j) => -j.share, any: (j) => j.share || j.fair }, { name: "step", n: true, key: (j) => -(j.step ?? 0), any: (j) => j.step },
    { name: "saved", n: true, key: (j) => -(j.saved ?? 0), any: (j) => j.saved }, { name: "run", n: true, key: (j) => -(j.attempt ?? 0), any: (j) => j.attempt },
    { name: "loss", key: (j) => j.loss ?? "", any: (j) => j.loss },
  ];
  const rows = new Map();
  let sort = null, limit = 100, heads = "";
  function cell(column, job) {
    const td = make("td", undefined, column.n ? "n" : "");
    switch (column.name) {
      case "job": {
        const swatch = make("span", undefined, "swatch"), button = make("button", job.id, "name");
        swatch.style.background = size(job) ? colour(job.id) : "var(--empty)";
        button.type = "button";
        td.append(swatch, button);
        break;
      }
      case "state":
        td.append(make("span", job.state));
        if (job.why) td.append(make("div", job.why, "why"));
        if (job.early) td.append(make("div", starts(job), "why"));
        break;
      case "queue": td.textContent = job.queue ?? ""; break;
      case "place": td.textContent = job.place || ""; break;
      case "waits": td.dataset.waits = ""; break;
      case "containers": td.textContent = size(job) || ""; break;
      case "on": {
        const text = where(job);
        td.textContent = text.length > 60 ? `${Object.keys(job.on).length} servers` : text;
        td.title = text;
        break;
      }
      case "share / fair share": {
        const bar = make("div", undefined, "share"), has = make("i"), fair = make("b");
        const whole = 1.25 * Math.max(job.share, job.fair, 1e-9); // each row compares its own two numbers
        has.style.width = `${(100 * job.share / whole).toFixed(1)}%`;
        fair.style.left = `${(100 * job.fair / whole).toFixed(1)}%`;
        bar.setAttribute("aria-hidden", "true");
        bar.append(has, fair);
        td.append(bar, make("span", `${percent(job.share)} / ${percent(job.fair)}`, "soft"));
        break;
      }
      case "loss":
        if (job.curve) {
          const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
          for (const [key, value] of [["viewBox", "0 -2 320 64"], ["role", "img"], ["aria-label", `loss of ${job.id}`]]) svg.setAttribute(key, value);
          line.setAttribute("points", job.curve);
          svg.append(line);
          td.append(svg);
        }
        td.append(make("div", job.loss ?? ""));
        break;
      default: td.textContent = { step: job.step, saved: job.saved, run: job.attempt }[column.name] || "";
    }
    return td;
  }
  function drawJobs() {
    const all = lists.jobs.order.map((id) => lists.jobs.items.get(id));
    const shown = columns.filter((c) => !c.any || all.some(c.any));
    const text = $("filter").value.trim().toLowerCase();
    let list = text ? all.filter((j) => `${j.id} ${j.queue ?? ""} ${j.state}`.toLowerCase().includes(text)) : all;
    if (sort) {
      const key = columns[sort.at].key, sign = sort.down ? -1 : 1;
      list = list.map((j) => [key(j), j]).sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0)).map(([, j]) => j);
    }
    const cut = list.slice(0, limit);
    $("shown").textContent = list.length === all.length ? `${all.length} jobs` : `${list.length} of ${all.length} jobs`;
    $("more").hidden = list.length <= cut.length;
    $("more").textContent = `Show ${list.length - cut.length} more`;
    const headSign = JSON.stringify([shown.map((c) => c.name), sort]);
    if (headSign !== heads) {
      heads = headSign;
      rows.clear();
      const tr = make("tr");
      for (const c of shown) {
        const th = make("th", undefined, c.n ? "n" : ""), button = make("button", c.name), at = columns.indexOf(c);
        th.scope = "col";
        button.type = "button";
        button.dataset.sort = at;
        if (sort?.at === at) th.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
        th.append(button);
        tr.append(th);
      }
      const focused = document.activeElement?.dataset?.sort;
      $("jobs").tHead.replaceChildren(tr);
      if (focused !== undefined) tr.querySelector(`[data-sort="${focused}"]`)?.focus();
    }
    const body = $("jobs").tBodies[0], wanted = cut.map((job) => {
      const sign = JSON.stringify(job);
      let row = rows.get(job.id);
      if (row?.sign !== sign) {
        const focused = row?.tr.contains(document.activeElement);
        row ??= { tr: make("tr") };
        row.sign = sign;
        row.tr.dataset.job = job.id;
        row.tr.replaceChildren(...shown.map((c) => cell(c, job)));
        rows.set(job.id, row);
        if (focused) row.tr.querySelector("button").focus();
      }
      return row.tr;
    });
    if (wanted.length !== body.children.length || wanted.some((tr, i) => tr !== body.children[i])) {
      const focused = document.activeElement;
      body.replaceChildren(...wanted);
      if (body.contains(focused)) focused.focus();
    }
    const there = lists.jobs.items;
    for (const id of rows.keys()) if (!there.has(id)) rows.delete(id);
    for (const id of hues.keys()) if (!there.has(id)) hues.delete(id);
    drawWaits();
  }
  function drawWaits() {
    for (const td of $("jobs").querySelectorAll("[data-waits]")) {
      const job = lists.jobs.items.get(td.parentNode.dataset.job), s = job ? waits(job) : -1;
      const text = s >= 0 ? span(s) : "";
      if (td.textContent !== text) td.textContent = text;
    }
  }
  $("jobs").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.sort !== undefined) {
      const at = Number(button.dataset.sort);
      sort = sort?.at !== at ? { at, down: false } : sort.down ? null : { at, down: true };
      drawJobs();
      return;
    }
    openJob(button.closest("tr").dataset.job);
  });
  $("filter").addEventListener("input", drawJobs);
  $("more").addEventListener("click", () => { limit *= 4; drawJobs(); });

  function drawQueues() {
    const all = lists.queues.order.map((id) => lists.queues.items.get(id));
    $("s-queues").hidden = all.length === 0;
    const amounts = (list) => (list ?? []).map((n, k) => n ? `${n} ${head.kinds?.[k] ?? ""}`.trim() : "").filter(Boolean).join(", ");
    const tr = make("tr");
    for (const name of ["queue", "uses", "guaranteed", "borrowed", "lent", "waiting"]) {
      const th = make("th", name);
      th.scope = "col";
      tr.append(th);
    }
    $("queues").tHead.replaceChildren(tr);
    $("queues").tBodies[0].replaceChildren(...all.map((q) => {
      const row = make("tr");
      row.dataset.queue = q.id;
      for (const text of [q.parent ? `${q.parent} / ${q.id}` : q.id, amounts(q.used), amounts(q.guarantee), amounts(q.borrowed), amounts(q.lent), q.waiting || ""]) row.append(make("td", text));
      return row;
    }));
  }

  function drawDecisions() {
    if (!dirty.decisions) return;
    dirty.decisions = false;
    $("decisions").replaceChildren(...decisions.toReversed().map((d) => {
      const li = make("li");
      li.value = d.number;
      const gap = d.gap < 0 ? "no bound" : `gap ${percent(d.gap)}`;
      const what = d.fault && !d.status ? "" : `${d.status}, ${(d.changes?.length ?? 0) + (d.more ?? 0)} changes, ${gap}, `;
      li.append(make("span", `${moment(d.at)}: ${what}${(1000 * d.took).toFixed(0)} ms`));
      if (d.fault) li.append(make("div", d.fault, "fault"));
      const list = make("ul");
      for (const c of (d.changes ?? []).slice(0, 8)) {
        const text = c.from === "" ? ` starts on ${c.to}` : c.to === "" ? ` stops on ${c.from}` : ` from ${c.from} to ${c.to}`;
        const item = make("li");
        item.append(make("b", c.job), text + (c.why ? `: ${c.why}` : ""));
        list.append(item);
      }
      const more = (d.changes?.length ?? 0) - 8 + (d.more ?? 0);
      if (more > 0) list.append(make("li", `and ${more} more`));
      if (list.children.length) li.append(list);
      return li;
    }));
  }

  // The detail of a job or a server, and questions about it.
  let asked = null;
  function open(title, lines, about, question) {
    asked = about;
    $("d-title").textContent = title;
    $("d-text").replaceChildren(...lines.map((line) => make("div", line)));
    $("answer").textContent = "";
    $("ask-why").hidden = !document.body.dataset.ask || !about.job;
    $("ask-if").hidden = !document.body.dataset.ask;
    $("ask-if").textContent = question;
    $("detail").showModal();
  }
  function openJob(id) {
    const job = lists.jobs.items.get(id);
    if (!job) return;
    const lines = [`${job.state}, ${size(job)} containers${where(job) ? ` on ${where(job)}` : ""}`];
    if (job.queue) lines.push(`queue ${job.queue}${job.place ? `, place ${job.place}` : ""}`);
    if (job.why) lines.push(job.why);
    if (job.early) lines.push(starts(job));
    open(id, lines, { job: id }, "What if it ended?");
    if (document.body.dataset.ask) ask(false);
  }
  function openServer(id) {
    const server = lists.servers.items.get(id);
    if (!server) return;
    const held = onServers().get(id) ?? [];
    const lines = [`${server.state || "up"}; ${server.capacity.map((n, k) => `${n} ${head.kinds?.[k] ?? ""}`).join(", ")}`];
    for (const [job, n] of held) lines.push(`${job.id}: ${n} containers`);
    open(id, lines, { server: id }, "What if it were drained?");
  }
  async function ask(what) {
    const about = asked, query = new URLSearchParams(about);
    if (what) query.set("if", "");
    $("answer").textContent = "…";
    let text;
    try {
      text = await (await fetch(`${document.body.dataset.ask}&${query}`)).text();
    } catch {
      text = "There is no answer: is the server there?";
    }
    if (asked === about) $("answer").textContent = text.trim();
  }
  $("ask-why").addEventListener("click", () => ask(false));
  $("ask-if").addEventListener("click", () => ask(true));
  $("close").addEventListener("click", () => $("detail").close());

  function draw() {
    const begun = performance.now();
    document.title = $("title").textContent = head.title ?? "jobs";
    $("summary").textContent = head.summary ?? "";
    $("fault").hidden = !head.fault;
    $("fault").textContent = head.fault ?? "";
    $("s-notes").hidden = !head.notes;
    $("notes").replaceChildren(...(head.notes ?? []).map((note) => make("li", note)));
    drawServers();
    drawJobs();
    drawQueues();
    drawDecisions();
    performance.clearMeasures("draw");
    performance.measure("draw", { start: begun });
  }

  apply(JSON.parse($("state").textContent), true);
  draw();
  setInterval(drawWaits, 1000);
  let due = false;
  const stream = new EventSource(document.body.dataset.events);
  const heard = (whole) => (event) => {
    apply(JSON.parse(event.data), whole);
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  };
  stream.addEventListener("all", heard(true));
  stream.addEventListener("patch", heard(false));
  stream.onopen = () => { $("live").textContent = "live"; };
  stream.onerror = () => {
    $("live").textContent = stream.readyState === EventSource.CLOSED ? "This link is over: open a new one." : "The server does not answer; the page tries again.";
  };
})();
