/* What is told of a program's tasks in words and numbers. */
(function () {
"use strict";

var run = JSON.parse(document.getElementById("data").textContent);
function counted(n, one, more) {
	return format.count(n) + " " + (n === 1 ? one : more);
}

function ended(kind) { return kind.done + kind.failed; }

var columns = [
	["task", function (k) { return k.task; }],
	["on", function (k) { return k.device || (k.io ? "I/O executors" : "computing units"); }],
	["constraint", function (k) { return k.storage_bw || ""; }],
	["done", function (k) { return format.count(k.done); }],
	["failed", function (k) { return k.failed ? format.count(k.failed) : ""; }],
	["not run", function (k) { return k.not_run ? format.count(k.not_run) : ""; }],
	["mean", function (k) { return ended(k) ? format.duration(k.total_s / ended(k)) : ""; }],
	["MB", function (k) { return k.io ? format.amount(k.bytes / 1e6) : ""; }],
	["MB/s", function (k) { return k.io && k.bytes ? format.amount(k.bandwidth_mbps) : ""; }]
];
var TEXTS = 3;

function cells(row, name, value) {
	columns.forEach(function (column, i) {
		row.append(name).attr("class", i < TEXTS ? "text" : null).text(value(column));
	});
}

document.title = "Tasks of " + run.program;
d3.select("#title").text("Tasks of " + run.program);
d3.select("#facts").text([counted(run.tasks, "task", "tasks") + " in " + format.duration(run.length_us / 1e6),
	counted(run.computing_units, "computing unit", "computing units"),
	counted(run.io_executors, "I/O executor", "I/O executors")].join(" · "));
d3.select("#version").text(run.version);

var table = d3.select("#tasks");
cells(table.append("thead").append("tr"), "th", function (column) { return column[0]; });
var body = table.append("tbody");
run.scheduling.tasks.forEach(function (kind) {
	cells(body.append("tr"), "td", function (column) { return column[1](kind); });
});
document.body.setAttribute("data-ready", "true");
}());
