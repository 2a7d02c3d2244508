// Shows the status of a service, and updates it each second. Names come from other processes: they
// are set as text, never as markup.
"use strict";

const kinds = {
  busy: "computes", queued: "waits for a thread", input: "waits for its input", output: "is not asked for more",
  lease: "waits for splits", storage: "waits for files", memory: "may hold no more in memory",
};

function make(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== false) out.setAttribute(name, value);
  for (const child of children.flat())
    if (child !== null && child !== undefined) out.append(child);
  return out;
}

function short(x) {
  const units = ["", " k", " M", " G", " T", " P"];
  let unit = 0;
  while (x >= 1000 && unit + 1 < units.length) { x /= 1000; ++unit; }
  return (unit === 0 ? x.toFixed(x < 10 && x % 1 ? 1 : 0) : x.toPrecision(3)) + units[unit];
}
const count = (n, what) => n + " " + what + (n === 1 ? "" : "s");
const percent = x => x === null || x === undefined ? "-" : Math.round(100 * x) + " %";

// The name of a node of a tree, indented by the node's depth.
function branch(x) {
  const out = make("span", { class: "branch" }, x.name);
  out.style.setProperty("--depth", x.depth);
  return out;
}
// A number of 16 digits, cut off where there is little room.
const id = x => make("span", { class: "id", title: x }, x);

function table(columns, rows) {
  if (rows.length === 0) return null;
  const head = columns.map(c => make("th", { class: c.number && "number", title: c.help }, c.title));
  const body = rows.map(row => make("tr", { class: row.cause && "cause" },
    columns.map(c => make("td", { class: [c.number && "number", c.name && "name"].filter(Boolean).join(" ") || false }, c.of(row)))));
  return make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, body)));
}

function bar(shares) {
  const text = Object.keys(kinds).filter(k => shares[k] >= .005).map(k => kinds[k] + " " + percent(shares[k])).join(", ");
  const out = make("div", { class: "bar", title: text, role: "img", "aria-label": text });
  for (const kind of Object.keys(kinds)) {
    const part = make("i", { class: kind });
    part.style.width = 100 * shares[kind] + "%";
    out.append(part);
  }
  return out;
}

// One list for all tasks of the job that run the same operators: means of shares, sums of rates.
function operators(job) {
  const running = job.tasks.filter(t => t.operators.length !== 0);
  if (running.length === 0) return [];
  const alike = running.filter(t => t.operators.length === running[0].operators.length);
  return running[0].operators.map((first, i) => {
    const all = alike.map(t => t.operators[i]);
    const sum = of => all.reduce((a, x) => a + of(x), 0);
    const out = { name: first.name, depth: first.depth, calls: first.calls, rows: sum(x => x.rows_per_second), bytes: sum(x => x.bytes_per_second) };
    for (const kind of Object.keys(kinds)) out[kind] = sum(x => x[kind]) / all.length;
    out.cause = job.verdict.place === i;
    return out;
  });
}

// How many elements a trainer is behind: in the windows of a cross-trainer cache, or else behind the trainer that was handed most.
function behind(job, trainer) {
  const windows = job.tasks.filter(t => t.window).flatMap(t => t.window.trainers).filter(x => x.trainer === trainer.name);
  if (windows.length) return windows.reduce((a, x) => a + x.lag, 0);
  return Math.max(...job.trainers.map(x => x.elements)) - trainer.elements;
}

function showJob(job, workers) {
  const address = Object.fromEntries(workers.map(w => [w.worker, w.address]));
  const rows = operators(job);
  const windows = job.tasks.filter(t => t.window).flatMap(t =>
    t.window.trainers.map(x => ({ worker: address[t.worker] || t.worker, ...x, bytes: t.window.bytes, budget: t.window.budget })));
  const lost = [];
  if (job.lost_splits) lost.push("up to " + job.lost_splits + " splits");
  if (job.lost_elements) lost.push("up to " + job.lost_elements + " elements");
  return make("section", { class: "job", "data-job": job.job },
    make("h2", {}, "job " + (job.name || job.job)),
    make("p", { class: "verdict " + job.verdict.cause }, job.verdict.text),
    make("p", { class: "dim" }, [job.state, job.processing_mode, "repetition " + job.repetition, count(job.consumers, "trainer"), "dataset " + job.dataset].join(", ")),
    job.failure ? make("p", { class: "bad" }, "failed: " + job.failure) : null,
    lost.length ? make("p", { class: "bad" }, "lost: " + lost.join(", ")) : null,
    rows.length ? make("h3", {}, "where the time of the operators goes") : null,
    table([
      { title: "operator", name: true, of: branch },
      { title: "time", of: bar },
      { title: "busy", number: true, of: x => percent(x.busy) },
      { title: "rows/s", number: true, of: x => short(x.rows) },
      { title: "calls", number: true, of: x => short(x.calls), help: "how many calls may run at a time" },
      { title: "bytes/s", number: true, of: x => short(x.bytes) },
    ], rows),
    rows.length ? make("div", { class: "legend" }, Object.entries(kinds).map(([k, text]) => make("span", {}, make("i", { class: k }), text))) : null,
    job.trainers.length ? make("h3", {}, "trainers") : null,
    table([
      { title: "trainer", of: x => x.name || id(x.consumer) },
      { title: "waited", number: true, of: x => percent(x.waited) },
      { title: "elements/s", number: true, of: x => short(x.elements_per_second) },
      { title: "behind", number: true, of: x => short(behind(job, x)),
        help: "elements: in the windows of a cross-trainer cache, or else behind the trainer that was handed most" },
      { title: "elements", number: true, of: x => short(x.elements) },
      { title: "bytes/s", number: true, of: x => short(x.bytes_per_second) },
      { title: "process", of: x => x.host },
    ], job.trainers),
    windows.length ? make("h3", {}, "cross-trainer cache") : null,
    table([
      { title: "worker", of: x => x.worker },
      { title: "trainer", of: x => x.trainer },
      { title: "behind", number: true, of: x => short(x.lag) },
      { title: "skipped", number: true, of: x => short(x.skipped) },
      { title: "window", number: true, of: x => short(x.bytes) + "B of " + short(x.budget) + "B" },
    ], windows),
    job.rounds ? make("p", {}, "coordinated reads: round " + job.rounds.round + ", " + job.rounds.consumers + " consumers"
      + (job.rounds.missing.length ? ", missing " + job.rounds.missing.join(", ") : "")) : null,
    make("h3", {}, "tasks"),
    table([
      { title: "worker", of: x => address[x.worker] || x.worker },
      { title: "state", of: x => x.state },
      { title: "elements/s", number: true, of: x => short(x.elements_per_second) },
      { title: "elements", number: true, of: x => short(x.elements) },
      { title: "bytes", number: true, of: x => short(x.bytes) },
      { title: "streams", number: true, of: x => x.streams },
      { title: "restarts", number: true, of: x => x.restarts },
    ], job.tasks));
}

function branches(all, depth = 0) {
  return all.flatMap(x => [{ ...x, depth }, ...branches(x.children, depth + 1)]);
}

function show(status) {
  const tree = branches(status.tree);
  const failures = tree.filter(x => x.last_reason).map(x => ({ where: x.name, what: x.last_reason }))
    .concat(status.jobs.filter(j => j.failure).map(j => ({ where: "job " + (j.name || j.job), what: j.failure })))
    .concat(status.saves.filter(s => s.failure).map(s => ({ where: "save " + s.path, what: s.failure })));
  const running = status.jobs.filter(j => j.state === "running"), over = status.jobs.filter(j => j.state !== "running");
  document.getElementById("service").textContent = "up " + Math.round(status.uptime_seconds) + " s, "
    + count(status.workers.filter(w => w.alive).length, "worker") + (status.wanted_workers ? " (" + status.wanted_workers + " wanted)" : "") + ", "
    + count(running.length, "running job") + ", " + count(status.datasets, "registered dataset");
  const scrolls = [...document.querySelectorAll(".wide")].map(x => x.scrollLeft);
  document.getElementById("content").replaceChildren(...[
    status.disk_trouble ? make("p", { class: "bad" }, "nothing new is begun: " + status.disk_trouble) : null,
    status.left_out ? make("p", { class: "bad" }, "left out: " + status.left_out) : null,
    running.length ? null : make("p", { class: "dim" }, "No job runs."),
    ...running.map(j => showJob(j, status.workers)),
    make("h2", {}, "workers"),
    table([
      { title: "address", of: x => x.address },
      { title: "state", of: x => x.state },
      { title: "process", number: true, of: x => x.pid },
      { title: "heartbeat", number: true, of: x => x.since_heartbeat_seconds.toFixed(1) + " s" },
      { title: "tags", of: x => x.tags.join(", ") },
      { title: "stuck threads", number: true, of: x => x.stuck_threads },
    ], status.workers) || make("p", { class: "dim" }, "none"),
    status.saves.length ? make("h2", {}, "saves") : null,
    table([
      { title: "folder", of: x => x.path },
      { title: "state", of: x => x.state },
      { title: "pieces", number: true, of: x => x.written + " of " + (x.pieces || "?") },
      { title: "elements", number: true, of: x => short(x.elements) },
      { title: "bytes", number: true, of: x => short(x.bytes) },
    ], status.saves),
    over.length ? make("h2", {}, "jobs that are over") : null,
    table([{ title: "job", of: x => x.name || x.job }, { title: "state", of: x => x.state }, { title: "why", of: x => make("pre", {}, x.failure) }], over),
    failures.length ? make("h2", {}, "last errors") : null,
    table([{ title: "where", of: x => x.where }, { title: "what", of: x => make("pre", {}, x.what) }], failures),
    make("h2", {}, "supervision"),
    table([
      { title: "actor", name: true, of: branch },
      { title: "state", of: x => x.state },
      { title: "restarts", number: true, of: x => x.restarts },
    ], tree),
  ].filter(x => x !== null));
  document.querySelectorAll(".wide").forEach((x, i) => { x.scrollLeft = scrolls[i] || 0; });
}

async function follow() {
  for (;;) {
    try {
      const answer = await fetch("api/status.json", { signal: AbortSignal.timeout(8000) });
      if (!answer.ok) throw new Error(await answer.text());
      show(await answer.json());
      document.title = "headrace";
    } catch (why) {
      document.getElementById("service").textContent = "no answer: " + why.message;
      document.title = "headrace: no answer";
    }
    await new Promise(next => setTimeout(next, 1000));
  }
}

const kept = document.getElementById("kept-status");
if (kept) show(JSON.parse(kept.textContent));
else follow();
