/* The data, and numbers for people. Times of the data are microseconds since its beginning. */
var report = JSON.parse(document.getElementById("data").textContent);
var taskOf = {}, fileOf = {};
report.tasks.forEach(function (t) { taskOf[t.id] = t; t.pairs = []; });
report.files.forEach(function (f) { fileOf[f.id] = f; f.pairs = []; });
report.pairs.forEach(function (p) {
	if (taskOf[p.task])
		taskOf[p.task].pairs.push(p);
	if (fileOf[p.file])
		fileOf[p.file].pairs.push(p);
});
var WAYS = ["read", "written"];
var NOTHING = {calls: 0, failed: 0, bytes: 0, asked: 0, time_ns: 0, longest_ns: 0, sequential: 0, up: 0,
	down: 0, unique: 0, repeated: 0, exact: true, sizes: []};

function byId(id) { return document.getElementById(id); }
function way(of, name) { return of[name] || NOTHING; }
function taskName(id) { return taskOf[id] ? taskOf[id].name : "task " + id + " (not on this page)"; }
function fileName(id) { return fileOf[id] ? fileOf[id].path : "file " + id + " (not on this page)"; }

function bytes(n) {
	var units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"], unit = 0;
	while (n >= 999.5 && unit < units.length - 1) {
		n /= 1000;
		unit++;
	}
	return n.toFixed(unit && n < 99.95 ? 1 : 0) + " " + units[unit];
}

function duration(ns) {
	var s = ns / 1e9;
	if (!ns)
		return "0 s";
	if (s < .000995)
		return (s * 1e6).toFixed(s < .00000995 ? 1 : 0) + " \u00b5s";
	if (s < .995)
		return (s * 1e3).toFixed(s < .00995 ? 1 : 0) + " ms";
	if (s < 99.95)
		return s.toFixed(s < 9.995 ? 2 : 1) + " s";
	if (s < 5999.5)
		return s.toFixed(0) + " s";
	return s < 360000 ? (s / 3600).toFixed(1) + " h" : (s / 86400).toFixed(0) + " d";
}

function count(n) { return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ","); }

function percent(part) {
	var p = 100 * part;
	if (p > 0 && p < .5)
		return "<1 %";
	return p < 100 && p >= 99.5 ? ">99 %" : Math.round(p) + " %";
}

/* A moment of an axis whose ticks are `step` seconds apart. */
function moment(s, step) {
	var digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log(step) / Math.LN10 - 1e-9));
	if (s < 600)
		return s.toFixed(digits) + " s";
	var h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, rest = (s % 60).toFixed(digits);
	return (h ? h + ":" + ("0" + m).slice(-2) : m) + ":" + (rest < 10 ? "0" : "") + rest;
}

/* Long paths by their end. */
function shortened(text, most) {
	return text.length > most ? "\u2026" + text.slice(text.length - Math.max(1, most - 1)) : text;
}

/* Bytes that are asked for in calls of a column of a histogram. */
function sizeName(bin) {
	if (bin < 1)
		return "0";
	var n = bin - 1, units = ["B", "KiB", "MiB", "GiB"];
	return Math.pow(2, n % 10) + " " + units[Math.floor(n / 10)];
}

function times(p, name) {
	var w = way(p, name);
	return w.unique ? (w.exact ? "" : "~") + (w.bytes / w.unique).toFixed(1) : "";
}

function inOrder(w) { return w.calls > w.failed ? w.sequential / (w.calls - w.failed) : null; }

/* ---- pointing at things ---- */

function tip(event, text) {
	var box = byId("tip"), x = event.clientX, y = event.clientY;
	if (x === undefined) {
		var at = event.target.getBoundingClientRect();
		x = at.right;
		y = at.bottom;
	}
	box.textContent = text;
	box.hidden = false;
	box.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - box.offsetWidth - 8)) + "px";
	box.style.top = Math.max(4, y + 18 + box.offsetHeight > window.innerHeight ?
		y - box.offsetHeight - 10 : y + 18) + "px";
}

function untip() { byId("tip").hidden = true; }

/* What a thing of the chart tells when it is pointed at, or has the keyboard. */
function tells(selection, text) {
	selection.on("mousemove", function (d) { tip(d3.event, text(d)); })
		.on("mouseleave", untip)
		.on("focus", function (d) { tip(d3.event, text(d)); })
		.on("blur", untip);
}

/* A row of buttons, of which one is chosen. */
function choice(id, words, chosen, changed) {
	var buttons = d3.select("#" + id).selectAll("button").data(words).enter().append("button")
		.attr({type: "button", role: "radio"});
	function show(word) {
		buttons.attr("aria-checked", function (w) { return String(w.value === word); });
	}
	buttons.text(function (w) { return w.text; }).on("click", function (w) {
		show(w.value);
		changed(w.value);
	});
	show(chosen);
}

function options(id, list, value, text) {
	var o = d3.select("#" + id).html("").selectAll("option").data(list).enter().append("option");
	o.attr("value", value).text(text);
}
