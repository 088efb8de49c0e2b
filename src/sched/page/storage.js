/* What was achieved on storage devices, and what was learned of it: charts of `scheduling`, which is
 * in the data of runs whose steps say what they need. Times are seconds since the run's start. */
(function () {
"use strict";

var run = JSON.parse(document.getElementById("data").textContent);
var scheduling = run.scheduling;
/* The kinds of a device that have colours of their own; the rest share one. */
var COLOURS = 7;
/* Pixels of a letter of what is told, about. */
var LETTER = 6.1;
var LEFT = 52, RIGHT = 12, TOP = 22, AXIS = 22;
var SPEED = 170, GAP = 34, TASKS = 46, ROW = 26, BARS = 130;

if (!scheduling)
	return;

var amount = format.amount, seconds = format.duration, bytes = format.bytes;

function total(kind) { return kind.achieved.read_bytes + kind.achieved.written_bytes; }

var length = Math.max(run.length_us / 1e6, 1e-6);
var figures = [];

/* ---- what all of them have ---- */

/* Parts of the page, by the word that is their id. */
var SECTIONS = {storage: "Storage", learning: "Learning", throughput: "Throughput by constraint"};
var place = d3.select("#scheduling");

Object.keys(SECTIONS).forEach(function (id) {
	var section = place.append("section").attr({id: id, "aria-label": SECTIONS[id], hidden: ""});
	section.append("h2").text(SECTIONS[id]);
	section.append("div").attr("class", "figures");
});

/* A chart in a section, which is shown from then on; `draw` is called for each width. */
function figure(section, name, caption, draw) {
	var box = d3.select("#" + section).attr("hidden", null).select(".figures")
		.append("figure").attr("data-name", name);
	box.append("figcaption").text(caption);
	var f = {box: box, svg: null, draw: draw};
	f.keys = box.append("ul").attr("class", "keys");
	f.svg = box.append("svg").attr("role", "img").attr("aria-label", caption);
	figures.push(f);
	return f;
}

function key(f, shape, text) {
	var item = f.keys.append("li");
	item.append("i").attr("class", "key " + shape);
	item.append("span").text(text);
}

/* Empty, of that height; its width. */
function clear(f, height) {
	var all = Math.floor(f.box.node().getBoundingClientRect().width) || 960;
	f.svg.text("").attr("viewBox", "0 0 " + all + " " + height).attr("height", height);
	return all;
}

function ruled(g, axis, x, y) {
	return g.append("g").attr("class", "axis").attr("transform", "translate(" + x + "," + y + ")").call(axis);
}

function timeAxis(g, x, width, y) {
	ruled(g, d3.svg.axis().scale(x).orient("bottom").tickSize(4).ticks(Math.max(2, Math.floor(width / 90)))
		.tickFormat(function (s) { return s + " s"; }), 0, y);
}

function pointed(target, describe) {
	target.on("mousemove", describe).on("click", describe).on("mouseleave", tip.hide);
}

/* ---- a device over time ---- */

/* Those that moved bytes, the most first if there are too many; what is left is one. */
function layersOf(device) {
	var kinds = scheduling.tasks.filter(function (k) {
		return k.device === device.device && k.achieved && total(k) > 0;
	});
	var many = kinds.length > COLOURS + 1, shown = kinds;
	if (many)
		shown = kinds.slice().sort(function (a, b) { return total(b) - total(a); }).slice(0, COLOURS);
	var layers = shown.map(function (k, i) {
		return {name: k.task, shape: "k" + i, mbps: k.achieved.mbps};
	});
	if (many)
		layers.push({name: kinds.length - COLOURS + " others", shape: "others",
			mbps: device.samples.map(function (s, i) {
				return d3.sum(kinds, function (k) {
					return shown.indexOf(k) < 0 ? k.achieved.mbps[i] : 0;
				});
			})});
	if (device.copied_bytes)
		layers.push({name: "leat", shape: "copied", mbps: device.samples.map(function (s) { return s.copied_mbps; })});
	return layers;
}

/* A line of steps: value(i) from sample to sample. */
function steps(n, x, y, at, value) {
	var d = "";
	for (var i = 0; i < n; i++)
		d += (i ? "V" : "M" + x(at(0)).toFixed(1) + ",") + y(value(i)).toFixed(1) +
			"H" + x(at(i + 1)).toFixed(1);
	return d;
}

/* The same there, and back along what is below it. */
function area(n, x, y, at, low, high) {
	var d = steps(n, x, y, at, high);
	for (var i = n - 1; i >= 0 && d; i--)
		d += "V" + y(low(i)).toFixed(1) + "H" + x(at(i)).toFixed(1);
	return d + (d ? "z" : "");
}

function drawDevice(f, device) {
	var all = clear(f, TOP + SPEED + GAP + TASKS + AXIS), width = all - LEFT - RIGHT;
	var samples = device.samples, n = samples.length, layers = f.layers, sums = [], levels = [];
	/* leat may have copied for longer than the steps ran. */
	var end = n * device.interval_s < length + device.interval_s ? length : n * device.interval_s;
	var x = d3.scale.linear().domain([0, end]).range([0, width]);
	function at(i) { return Math.min(i * device.interval_s, end); }

	samples.forEach(function (s, i) { sums[i] = 0; });
	layers.forEach(function (layer) {
		layer.low = sums.slice();
		samples.forEach(function (s, i) { sums[i] += layer.mbps[i]; });
		layer.high = sums.slice();
	});
	levels = [device.bandwidth_mbps, d3.max(sums) || 0, d3.max(samples, function (s) { return s.allocated_mbps; }) || 0];
	var y = d3.scale.linear().domain([0, d3.max(levels)]).nice(4).range([SPEED, 0]);
	var g = f.svg.append("g").attr("transform", "translate(" + LEFT + "," + TOP + ")");
	ruled(g, d3.svg.axis().scale(y).orient("left").ticks(4).tickSize(-width), 0, 0);
	f.svg.append("text").attr({"class": "unit", x: 2, y: 11}).text("MB/s");
	layers.forEach(function (layer) {
		g.append("path").attr("class", "layer " + layer.shape).attr("data-task", layer.name)
			.attr("d", area(n, x, y, at, function (i) { return layer.low[i]; },
				function (i) { return layer.high[i]; }) || null);
	});
	g.append("path").attr("class", "taken")
		.attr("d", steps(n, x, y, at, function (i) { return samples[i].allocated_mbps; }) || null);
	g.append("path").attr("class", "limit").attr("d", "M0," + y(device.bandwidth_mbps) + "H" + width);

	var most = Math.max(1, d3.max(samples, function (s) { return s.tasks; }) || 0);
	var z = d3.scale.linear().domain([0, most]).nice(2).range([TASKS, 0]);
	var h = f.svg.append("g").attr("transform", "translate(" + LEFT + "," + (TOP + SPEED + GAP) + ")");
	ruled(h, d3.svg.axis().scale(z).orient("left").ticks(2).tickSize(-width).tickFormat(d3.format("d")), 0, 0);
	h.append("path").attr("class", "tasks").attr("d", area(n, x, z, at, function () { return 0; },
		function (i) { return samples[i].tasks; }) || null);
	timeAxis(h, x, width, TASKS);
	f.svg.append("text").attr({"class": "unit", x: 2, y: TOP + SPEED + GAP - 11}).text("I/O tasks");

	pointed(f.svg, function () {
		var i = Math.floor(x.invert(d3.mouse(g.node())[0]) / device.interval_s), s = samples[i];
		if (!s) {
			tip.hide();
			return;
		}
		tip.show(device.device + " from " + seconds(at(i)) + " to " + seconds(at(i + 1)),
			["read " + amount(s.read_mbps) + ", written " + amount(s.written_mbps) + " MB/s",
				"allocated " + amount(s.allocated_mbps) + " of " + device.bandwidth_mbps + " MB/s",
				"I/O tasks at a time: " + amount(s.tasks)]
			.concat(layers.filter(function (layer) { return layer.mbps[i] > 0; }).map(function (layer) {
				return layer.name + " " + amount(layer.mbps[i]) + " MB/s";
			})));
	});
}

scheduling.devices.forEach(function (device) {
	var f, used = scheduling.tasks.some(function (k) { return k.device === device.device; });
	if (!used)
		return;
	f = figure("storage", device.device, device.device + ": " + amount(device.mean_mbps) +
		" MB/s achieved while I/O tasks ran (" + seconds(device.busy_s) + "), at most " +
		amount(device.peak_mbps) + "; " + bytes(device.read_bytes) + " read, " +
		bytes(device.written_bytes) + " written" + (device.copied_bytes ? ", " +
		bytes(device.copied_bytes) + " copied by leat" : ""), function () { drawDevice(f, device); });
	f.layers = layersOf(device);
	f.layers.forEach(function (layer) {
		key(f, layer.shape, layer.shape === "copied" ? "copied to disk by leat, MB/s" : layer.name + ", MB/s achieved");
	});
	key(f, "line taken", "sum of constraints");
	key(f, "line limit", "bandwidth, " + device.bandwidth_mbps + " MB/s");
	key(f, "tasks", "I/O tasks at a time");
});

if (scheduling.devices.length)
	d3.select("#storage").append("p").attr("class", "small").text("Means of " +
		scheduling.devices[0].interval_s + " s each: " + place.attr("data-how"));

/* ---- what was learned ---- */

function titled(kind) {
	return kind.task + (kind.device ? " on " + kind.device : "") + ", " + kind.storage_bw;
}

/* Constraints that were tried or used, the lowest first. */
function constraintsOf(kind) {
	var seen = {};
	kind.epochs.forEach(function (e) { seen[e.constraint_mbps] = true; });
	choicesOf(kind).forEach(function (c) { seen[c.constraint_mbps] = true; });
	return Object.keys(seen).map(Number).sort(function (a, b) { return a - b; });
}

function told(e) {
	return e.tasks + (e.tasks < e.slots ? " of " + e.slots : "") + (e.tasks === 1 ? " task" : " tasks") +
		", mean " + seconds(e.mean_s) + (e.end === "registered" ? "" : ", " + e.end);
}

function choicesOf(kind) {
	return kind.achieved && kind.achieved.choices || [];
}

function drawLearning(f, kind) {
	var values = constraintsOf(kind), high = ROW * values.length;
	var top = 4, all = clear(f, top + high + AXIS), left = 66, width = all - left - RIGHT;
	var x = d3.scale.linear().domain([0, length]).range([0, width]);
	var y = d3.scale.ordinal().domain(values).rangeBands([high, 0], .3);
	var g = f.svg.append("g").attr("transform", "translate(" + left + "," + top + ")"), d = "", choices = choicesOf(kind), labels = [];
	function middle(c) { return y(c) + y.rangeBand() / 2; }

	ruled(g, d3.svg.axis().scale(y).orient("left").tickSize(-width)
		.tickFormat(function (c) { return c + " MB/s"; }), 0, 0);
	timeAxis(g, x, width, high);
	kind.epochs.forEach(function (e, i) {
		if (e.begin_s === undefined)
			return;
		var a = x(e.begin_s), b = Math.max(a + 3, x(e.end_s === undefined ? length : e.end_s));
		pointed(g.append("rect").attr("class", "epoch " + (e.end === "registered" ? "good" : "bad"))
			.attr({x: a, y: y(e.constraint_mbps), width: b - a, height: y.rangeBand()}), function () {
			tip.show("epoch " + (i + 1) + ": " + e.constraint_mbps + " MB/s",
				[told(e), "from " + seconds(e.begin_s) + (e.end_s === undefined ? "" : " to " + seconds(e.end_s))]);
		});
		labels.push([a, b, e]);
	});
	choices.forEach(function (c, i) {
		var end = i + 1 < choices.length ? choices[i + 1].t : length;
		d += (i ? "V" : "M" + x(c.t).toFixed(1) + ",") + middle(c.constraint_mbps).toFixed(1) + "H" + x(end).toFixed(1);
	});
	if (d)
		g.append("path").attr({"class": "choice", d: d});
	labels.forEach(function (l) {
		/* Behind the bar, before it, or else on it. */
		var text = told(l[2]), long = LETTER * text.length, behind = l[1] + 5 + long <= width;
		var before = !behind && l[0] - 5 >= long;
		g.append("text").attr("class", "told").attr({x: behind ? l[1] + 5 : before ? l[0] - 5 : l[0] + 4,
			y: middle(l[2].constraint_mbps) + 4, "text-anchor": before ? "end" : "start"}).text(text);
	});
}

/* MB/s of the tasks with each constraint together, in the time in which any of them ran. */
function drawThroughput(f, kind) {
	var rates = kind.achieved.by_constraint.slice().sort(function (a, b) { return a.constraint_mbps - b.constraint_mbps; });
	var all = clear(f, TOP + BARS + 2 * AXIS), width = all - LEFT - RIGHT;
	var x = d3.scale.ordinal().domain(rates.map(function (r) { return r.constraint_mbps; })).rangeBands([0, width], .35, .2);
	var y = d3.scale.linear().domain([0, d3.max(rates, function (r) { return r.mbps; }) || 1]).nice(4).range([BARS, 0]);
	var g = f.svg.append("g").attr("transform", "translate(" + LEFT + "," + TOP + ")");
	ruled(g, d3.svg.axis().scale(y).orient("left").ticks(4).tickSize(-width), 0, 0);
	ruled(g, d3.svg.axis().scale(x).orient("bottom").tickSize(0).tickPadding(6), 0, BARS);
	rates.forEach(function (r) {
		var middle = x(r.constraint_mbps) + x.rangeBand() / 2;
		pointed(g.append("rect").attr("class", "rate").attr("data-constraint", r.constraint_mbps)
			.attr({x: x(r.constraint_mbps), width: x.rangeBand(), y: y(r.mbps), height: BARS - y(r.mbps)}), function () {
			tip.show(r.constraint_mbps + " MB/s", [r.tasks + (r.tasks === 1 ? " task" : " tasks") + ", " + bytes(r.bytes),
				amount(r.mbps) + " MB/s together", amount(r.task_mbps) + " MB/s each", "mean " + seconds(r.mean_s)]);
		});
		g.append("text").attr({"class": "value", x: middle, y: y(r.mbps) - 4, "text-anchor": "middle"}).text(amount(r.mbps));
	});
	f.svg.append("text").attr({"class": "unit", x: LEFT + width / 2, y: TOP + BARS + 2 * AXIS - 6,
		"text-anchor": "middle"}).text("constraint, MB/s");
}

scheduling.tasks.filter(function (k) { return k.epochs && k.epochs.length; }).forEach(function (kind) {
	var f = figure("learning", kind.task, titled(kind) + (kind.chosen_mbps === undefined ?
		": nothing was chosen" : ": last chosen " + kind.chosen_mbps + " MB/s"), function () { drawLearning(f, kind); });
	key(f, "good", "epoch");
	if (kind.epochs.some(function (e) { return e.end !== "registered"; }))
		key(f, "bad", "epoch that was discarded");
	if (choicesOf(kind).length)
		key(f, "line choice", "chosen afterwards");
	if (kind.achieved && kind.achieved.choices_left_out)
		f.box.append("p").attr("class", "small").text(kind.achieved.choices_left_out +
			" later changes are not shown: there were too many.");
	var t;
	if (kind.achieved && kind.achieved.by_constraint.length && total(kind) > 0)
		t = figure("throughput", kind.task, titled(kind) + ": MB/s of all tasks with a constraint together, while any of them ran",
			function () { drawThroughput(t, kind); });
});

/* ---- the rest ---- */

function layout() {
	figures.forEach(function (f) { f.draw(); });
}

layout();
var resized = 0;
d3.select(window).on("resize.storage", function () {
	clearTimeout(resized);
	resized = setTimeout(layout, 100);
});
}());
