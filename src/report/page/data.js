/* The data, and what is said of it. Times of the data are microseconds since its beginning. */
var report = JSON.parse(document.getElementById("data").textContent);
var taskOf = {}, fileOf = {};
report.tasks.forEach(function (t) { taskOf[t.id] = t; t.edges = []; });
report.files.forEach(function (f) { fileOf[f.id] = f; f.edges = []; });
report.edges.forEach(function (p) {
	if (taskOf[p.task])
		taskOf[p.task].edges.push(p);
	if (fileOf[p.file])
		fileOf[p.file].edges.push(p);
});
var WAYS = ["read", "written"];
var NOTHING = {calls: 0, failed: 0, bytes: 0, asked: 0, time_ns: 0, longest_ns: 0, sequential: 0, up: 0,
	down: 0, unique: 0, repeated: 0, exact: true, sizes: []};

function byId(id) { return document.getElementById(id); }
function way(of, name) { return of[name] || NOTHING; }
function taskName(id) { return taskOf[id] ? taskOf[id].name : "task " + id + " (not on this page)"; }
function fileName(id) { return fileOf[id] ? fileOf[id].path : "file " + id + " (not on this page)"; }

var bytes = format.bytes, binaryBytes = format.binaryBytes, count = format.count, percent = format.percent,
	moment = format.moment, shortened = format.ending;

function duration(ns) { return format.duration(ns / 1e9); }

/* Bytes that are asked for in calls of a column of a histogram. */
function sizeName(bin) {
	if (bin < 1)
		return "0";
	var n = bin - 1, units = ["B", "KiB", "MiB", "GiB"];
	return Math.pow(2, n % 10) + " " + units[Math.floor(n / 10)];
}

/* ---- pointing at things ---- */

/* What a thing of the chart shows, a text of lines, when it is pointed at or has the keyboard. */
function tells(selection, text) {
	tip.on(selection, function (d) { return text(d).split("\n"); });
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
