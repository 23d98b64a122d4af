// The page: a problem, what runs, and the decision from there. While a slider moves the decision is a preview; when it rests it is
// carried out, and the next one begins where it ended.
"use strict";

const $ = (id) => document.getElementById(id);
const worker = new Worker("worker.js");
const waiting = new Map();
worker.onmessage = ({ data }) => { waiting.get(data.id)(data); waiting.delete(data.id); };
worker.onerror = (event) => { $("status").textContent = "The program could not be loaded: " + event.message; };
let asked = 0;
const ask = (args, question) => new Promise((answer) => {
  waiting.set(++asked, answer);
  worker.postMessage({ id: asked, args, question: JSON.stringify(question) });
});

const gpus = 8, cpus = 64;
const server = (n) => ({ id: "s" + n, capacity: [gpus, cpus] });
const job = (id, gpu, cpu, max) => ({ id, demand: [gpu, cpu], weight: 1, max, min: 1 });
const example = () => ({
  kinds: ["gpu", "cpu"], servers: [1, 2, 3, 4].map(server), theta1: 0.3, theta2: 0.5, previous: {},
  applications: [job("vision", 1, 4, 16), job("speech", 2, 8, 8), job("tabular", 1, 16, 6), job("notebook", 1, 2, 1)],
});

// A link holds the whole problem, what runs included.
const pack = (p) => btoa(unescape(encodeURIComponent(JSON.stringify(p)))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const unpack = (text) => JSON.parse(decodeURIComponent(escape(atob(text.replaceAll("-", "+").replaceAll("_", "/")))));

let problem = example(), lost = new Set(), turn = 0;

// present is the problem without the servers that are lost.
const present = () => ({ ...problem, servers: problem.servers.filter((s) => !lost.has(s.id)) });

const hue = (id) => (problem.applications.findIndex((a) => a.id === id) * 137.508) % 360;
const colour = (id) => `hsl(${hue(id)} 60% 75%)`;

function element(name, attributes = {}, ...children) {
  const e = Object.assign(document.createElement(name), attributes);
  e.append(...children);
  return e;
}

async function decide(carryOut) {
  const mine = ++turn;
  const answer = await ask(["dorm"], present());
  if (mine !== turn) return; // something newer is on its way
  if (answer.code !== 0) {
    const failure = JSON.parse(answer.errors);
    const faults = (failure.faults || []).map((f) => `${f.item} ${f.field}: ${f.problem} ${f.detail}`);
    $("status").replaceChildren(element("span", { className: "fault" }, [failure.error, ...faults].join("; ")));
    return;
  }
  const decision = JSON.parse(answer.out);
  show(decision, answer.ms);
  if (carryOut) {
    problem.previous = decision.allocation;
    $("link").href = "#" + pack({ ...problem, lost: [...lost] });
  }
}

function show(decision, ms) {
  const m = decision.metrics;
  const bound = decision.bound === undefined ? "" : ` of ${decision.bound.toFixed(3)} possible`;
  $("status").textContent = `${decision.objective.toFixed(3)}${bound}; unfairness ${m.fairness_loss.toFixed(2)} of ${m.loss_budget.toFixed(2)}; ` +
    `${m.adjusted} restarted of ${m.adjust_budget} allowed; ${Math.round(ms)} ms`;
  const has = Object.fromEntries(decision.shares.map((s) => [s.id, s.containers]));
  for (const cell of document.querySelectorAll("[data-has]")) cell.textContent = has[cell.dataset.has] ?? 0;
  const why = Object.fromEntries([...decision.explanation, ...decision.waiting.map((w) => ({ id: w.id, text: w.reason.text }))].map((x) => [x.id, x.text]));
  $("reasons").replaceChildren(...problem.applications.map((a) => element("li", {}, `${a.id}: ${why[a.id] || "it has what it may have"}`)));
  const steps = decision.plan.map((s) => element("li", {}, `${s.action} ${s.containers ?? ""} of ${s.application} on ${s.server}`));
  $("plan").replaceChildren(...(steps.length ? steps : [element("li", {}, "nothing changes")]));
  for (const s of problem.servers) {
    const boxes = [];
    for (const [id, placed] of Object.entries(decision.allocation)) {
      const size = problem.applications.find((a) => a.id === id).demand[0];
      for (let n = 0; n < (placed[s.id] || 0); n++) {
        const box = element("div", { className: "box used", title: id }, id);
        box.style.cssText = `background:${colour(id)};flex-grow:${Math.max(size, 0.25)}`;
        boxes.push(box);
      }
    }
    const used = boxes.reduce((sum, b) => sum + Number(b.style.flexGrow), 0);
    for (let free = Math.floor(gpus - used); free > 0; free--) boxes.push(element("div", { className: "box", title: "free" }));
    $("gpus-" + s.id).replaceChildren(...boxes);
  }
}

// edits makes an input change something: at once as a preview, and for good when it rests.
function edits(input, set) {
  input.addEventListener("input", () => { set(input); decide(false); });
  input.addEventListener("change", () => { set(input); decide(true); });
  return input;
}

function number(value, label, least, most, set) {
  const input = element("input", { type: "number", min: least, max: most, value });
  input.setAttribute("aria-label", label);
  return edits(input, (i) => set(Number(i.value)));
}

function draw() {
  $("jobs").replaceChildren(...problem.applications.map((a) => {
    const most = element("input", { type: "range", min: 1, max: 32, value: a.max });
    most.setAttribute("aria-label", `most containers of ${a.id}`);
    const remove = element("button", { type: "button" }, "remove");
    remove.setAttribute("aria-label", "remove " + a.id);
    remove.onclick = () => { problem.applications = problem.applications.filter((x) => x !== a); delete problem.previous[a.id]; draw(); decide(true); };
    const name = element("th", { scope: "row" }, a.id);
    name.style.borderLeft = `.6rem solid ${colour(a.id)}`;
    name.style.paddingLeft = ".4rem";
    const limit = element("output", {}, String(a.max));
    const has = element("td");
    has.dataset.has = a.id;
    return element("tr", {}, name,
      element("td", {}, number(a.demand[0], "GPUs of a container of " + a.id, 0, gpus, (v) => { a.demand[0] = v; })),
      element("td", {}, number(a.demand[1], "CPUs of a container of " + a.id, 0, cpus, (v) => { a.demand[1] = v; })),
      element("td", {}, number(a.weight, "weight of " + a.id, 1, 10, (v) => { a.weight = v; })),
      element("td", {}, edits(most, (i) => { a.max = Number(i.value); limit.textContent = i.value; }), limit),
      has, element("td", {}, remove));
  }));
  $("servers").replaceChildren(...problem.servers.map((s) => {
    const toggle = element("button", { type: "button" }, lost.has(s.id) ? "bring back" : "lose it");
    toggle.setAttribute("aria-label", `${toggle.textContent}: ${s.id}`);
    toggle.onclick = () => { lost.has(s.id) ? lost.delete(s.id) : lost.add(s.id); draw(); decide(true); };
    return element("div", { className: "server" + (lost.has(s.id) ? " gone" : "") },
      element("header", {}, element("b", {}, s.id + (lost.has(s.id) ? ", lost" : "")), toggle), element("div", { className: "gpus", id: "gpus-" + s.id }));
  }));
  for (const theta of ["theta1", "theta2"]) {
    $(theta).value = problem[theta];
    $(theta + "-value").textContent = problem[theta];
  }
}

for (const theta of ["theta1", "theta2"]) {
  edits($(theta), (i) => { problem[theta] = Number(i.value); $(theta + "-value").textContent = i.value; });
}
$("add").onclick = () => {
  let n = problem.applications.length + 1;
  while (problem.applications.some((a) => a.id === "job" + n)) n++;
  problem.applications.push(job("job" + n, 1, 4, 4));
  draw();
  decide(true);
};
$("grow").onclick = () => { problem.servers.push(server(problem.servers.length + 1)); draw(); decide(true); };

function open() {
  if (location.hash.length > 1) {
    try {
      const { lost: gone, ...rest } = unpack(location.hash.slice(1));
      [problem, lost] = [rest, new Set(gone)];
    } catch {
      $("status").textContent = "The link is damaged: here is the example.";
    }
  }
  draw();
  decide(true);
}
addEventListener("hashchange", open);
open();
