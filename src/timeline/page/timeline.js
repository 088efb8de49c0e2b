/* The chart and the table of a run. Times are microseconds since its start. */
(function () {
"use strict";

var run = JSON.parse(document.getElementById("data").textContent);
var ACTIVITIES = ["compute", "copy", "wait", "rest"];
var WORDS = {compute: "computing", copy: "transfer", wait: "waiting", rest: "between launches"};
/* Columns of a piece. */
var BEGIN = 0, LENGTH = 1, WAIT = 2, COPY = 3, REST = 4, IN = 5, OUT = 6, FILE = 7;
/* Pixels of a letter of a name, about. */
var LETTER = 7.9;
var HEAD = 26, GROUP = 30, SINGLE = 24, MEMBER = 15;
/* So many pixels of the width for an arrow, or a mark of an ensemble: closer they hide the bars. */
var ARROW_WIDTH = 10, MARK_WIDTH = 12;
var OPEN_ROWS = 40;

/* ---- words ---- */

var bytes = format.bytes, percent = format.percent, moment = format.moment;

function seconds(us) { return format.seconds(us / 1e6); }

function titled(mark) {
	var name = run.files[mark.file - 1];
	return mark.version > 1 ? name + " (version " + mark.version + ")" : name;
}

/* ---- tasks and their instances ---- */

function begun(step) {
	return step.begin_us !== undefined;
}

var tasks = [];
run.steps.forEach(function (step, index) {
	var task = tasks[tasks.length - 1];
	step.index = index;
	step.marks = [];
	step.launches = 0;
	/* What is known without a daemon is only that it ran. */
	if (begun(step) && !step.pieces.length)
		step.pieces = [[step.begin_us, Math.max(1, step.end_us - step.begin_us), 0, 0, 0, 0, 0, 0]];
	if (!task || task.name !== step.task)
		tasks.push(task = {name: step.task, steps: [], open: false});
	task.steps.push(step);
});
run.marks.forEach(function (mark) {
	if (mark.step === undefined)
		return;
	run.steps[mark.step].marks.push(mark);
	if (mark.kind === "launch")
		run.steps[mark.step].launches++;
});
var links = run.marks.filter(function (mark) { return mark.from_us !== undefined; });
var ensembles = tasks.filter(function (task) { return task.steps.length > 1; });
ensembles.forEach(function (task) { task.most = mostAtOnce(task.steps); });
if (run.steps.length <= OPEN_ROWS || location.hash === "#open")
	ensembles.forEach(function (task) { task.open = true; });

/* So many of the steps ran at once, at most. */
function mostAtOnce(steps) {
	var moments = [], now = 0, most = 1;
	steps.filter(begun).forEach(function (step) {
		moments.push([step.begin_us, 1], [step.end_us, -1]);
	});
	moments.sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; });
	moments.forEach(function (m) {
		now += m[1];
		most = Math.max(most, now);
	});
	return most;
}

function rowsNow() {
	var rows = [], top = 0;
	function add(task, steps, kind, height) {
		rows.push({task: task, steps: steps, kind: kind, top: top, height: height,
			name: kind === "group" ? task.name : steps[0].name});
		top += height;
	}
	tasks.forEach(function (task) {
		var many = task.steps.length > 1;
		add(task, task.steps, many ? "group" : "single", many ? GROUP : SINGLE);
		if (many && task.open)
			task.steps.forEach(function (step) { add(task, [step], "member", MEMBER); });
	});
	rows.height = top;
	return rows;
}

/* ---- what a row shows ---- */

/* Of each pixel from `from`: how much of it the steps spent on what. */
function columns(steps, from, to, width) {
	var scale = width / (to - from), sums = {};
	ACTIVITIES.forEach(function (a) { sums[a] = new Float64Array(width); });
	function spread(sum, first, last, begin, end, part) {
		if (!part)
			return;
		if (first === last) {
			sum[first] += part;
			return;
		}
		for (var i = first; i <= last; i++)
			sum[i] += part * (Math.min(end, i + 1) - Math.max(begin, i)) / (end - begin);
	}
	steps.forEach(function (step) {
		step.pieces.forEach(function (p) {
			var begin = (p[BEGIN] - from) * scale, end = begin + p[LENGTH] * scale;
			if (end <= 0 || begin >= width || !p[LENGTH])
				return;
			var first = Math.max(0, Math.floor(begin));
			var last = Math.min(width - 1, Math.max(first, Math.ceil(end) - 1));
			spread(sums.wait, first, last, begin, end, p[WAIT]);
			spread(sums.copy, first, last, begin, end, p[COPY]);
			spread(sums.rest, first, last, begin, end, p[REST]);
			spread(sums.compute, first, last, begin, end,
				Math.max(0, p[LENGTH] - p[WAIT] - p[COPY] - p[REST]));
		});
	});
	return sums;
}

/* Bars of one row as paths: the shares stand on one another. Of an ensemble the height is the number
 * of instances that run, of a step all there is: however short it is, one pixel shows it. */
function bars(row, from, to, width) {
	var sums = columns(row.steps, from, to, width), high = row.height - (row.kind === "member" ? 3 : 6);
	var whole = row.kind === "group" ? (to - from) / width * row.task.most : 0, paths = {};
	var open = {};
	function flush(a) {
		var o = open[a];
		if (o)
			paths[a] += "M" + o.x + "," + o.y + "h" + o.w + "v" + o.h + "h" + -o.w + "z";
		open[a] = null;
	}
	ACTIVITIES.forEach(function (a) { paths[a] = ""; });
	for (var i = 0; i < width; i++) {
		var all = 0, floor = high;
		for (var k = 0; k < 4; k++)
			all += sums[ACTIVITIES[k]][i];
		var unit = row.kind === "group" ? whole : all;
		for (k = 0; k < 4; k++) {
			var a = ACTIVITIES[k];
			var h = all ? Math.round(Math.min(1, sums[a][i] / unit) * high * 4) / 4 : 0;
			var o = open[a];
			floor -= h;
			if (o && h && o.h === h && o.y === floor) {
				o.w++;
				continue;
			}
			flush(a);
			if (h > 0)
				open[a] = {x: i, y: Math.max(0, floor), w: 1, h: h};
		}
	}
	ACTIVITIES.forEach(flush);
	return paths;
}

/* ---- the chart ---- */

var total = Math.max(run.length_us, 1);
var chart = d3.select("#chart");
var head = chart.append("svg").attr("class", "head");
var svg = chart.append("svg").attr("role", "img").attr("aria-label", "Timeline of all steps; the table below has the totals");
var left = 0, width = 0, rows = [];
var x = d3.scale.linear().domain([0, total / 1e6]);
var axis = d3.svg.axis().scale(x).orient("top").tickSize(4);
var zoom = d3.behavior.zoom().scaleExtent([1, Math.max(1, total / 100)]).on("zoom", moved);

svg.append("defs").append("marker").attr({id: "arrowhead", viewBox: "0 0 6 6", refX: 6, refY: 3,
	markerWidth: 6, markerHeight: 6, orient: "auto"}).append("path").attr("d", "M0,0L6,3L0,6z");
/* Where bars end, labels begin. */
svg.select("defs").append("clipPath").attr("id", "plot").append("rect");
var layers = {};
["stripes", "grid", "rows", "arrows"].forEach(function (name) {
	layers[name] = svg.append("g").attr("class", name);
});
layers.rows.attr("clip-path", "url(#plot)");
layers.arrows.attr("clip-path", "url(#plot)");
layers.labels = svg.append("g");
var ruler = head.append("g").attr("class", "axis");

function from() { return x.domain()[0] * 1e6; }
function to() { return x.domain()[1] * 1e6; }

/* Room for the longest name, but never more than a third. */
function measure() {
	var all = Math.floor(chart.node().getBoundingClientRect().width) || 960, longest = 0;
	tasks.forEach(function (task) {
		longest = Math.max(longest, task.name.length + (task.steps.length > 1 ? 8 : 0));
		if (task.open)
			task.steps.forEach(function (step) { longest = Math.max(longest, step.name.length + 1); });
	});
	left = Math.round(Math.min(LETTER * longest + 14, all / 3, 320));
	width = Math.max(60, all - left - 12);
	return all;
}

function shortened(name) { return format.shortened(name, Math.floor((left - 13) / LETTER)); }

/* Everything anew: another width, other rows. */
function layout() {
	var domain = x.domain(), all = measure();
	rows = rowsNow();
	x.range([0, width]).domain([0, total / 1e6]);
	zoom.x(x).size([width, rows.height]);
	zoom.scale(total / 1e6 / (domain[1] - domain[0]));
	zoom.translate([-domain[0] / (domain[1] - domain[0]) * width, 0]);
	head.attr("viewBox", "0 0 " + all + " " + HEAD).attr("height", HEAD);
	svg.attr("viewBox", "0 0 " + all + " " + (rows.height + 2)).attr("height", rows.height + 2);
	ruler.attr("transform", "translate(" + left + "," + (HEAD - 1) + ")");
	svg.select("#plot rect").attr({x: -1, y: -1, width: width + 2, height: rows.height + 4});
	["grid", "rows", "arrows"].forEach(function (name) {
		layers[name].attr("transform", "translate(" + left + ",1)");
	});
	layers.stripes.selectAll("rect").remove();
	layers.stripes.selectAll("rect").data(rows.filter(function (row, i) { return row.kind !== "member"; }))
		.enter().append("rect").attr({"class": "stripe", x: 0, width: all,
			y: function (row) { return row.top + 1; }, height: function (row) { return row.height - 1; }});
	label();
	layers.rows.selectAll("g").remove();
	var g = layers.rows.selectAll("g").data(rows).enter().append("g")
		.attr("class", function (row) { return "row " + row.kind; })
		.attr("data-name", function (row) { return row.name; })
		.attr("transform", function (row) {
			return "translate(0," + (row.top + (row.kind === "member" ? 1 : 3)) + ")";
		});
	ACTIVITIES.concat(["launch", "commit", "fail"]).forEach(function (name) {
		g.append("path").attr("class", name);
	});
	g.filter(function (row) { return !row.steps.some(begun); }).append("text")
		.attr({"class": "never", x: 4, y: function (row) { return row.height / 2 + 1; }})
		.text(function (row) { return row.steps[0].status; });
	draw(true);
}

function label() {
	layers.labels.selectAll("text").remove();
	var text = layers.labels.selectAll("text").data(rows).enter().append("text")
		.attr("class", function (row) { return "label " + row.kind; })
		.attr("x", function (row) { return row.kind === "member" ? 18 : 4; })
		.attr("y", function (row) { return row.top + row.height / 2 + 5; })
		.attr("font-size", function (row) { return row.kind === "member" ? 11 : 13; })
		.text(function (row) {
			if (row.kind !== "group")
				return shortened(row.name);
			return (row.task.open ? "\u25be " : "\u25b8 ") +
				shortened(row.name + " \u00d7" + row.steps.length);
		});
	text.append("title").text(function (row) { return row.name; });
	text.filter(function (row) { return row.kind === "group"; })
		.on("click", function (row) {
			row.task.open = !row.task.open;
			reopened();
		});
}

function drawRow(row) {
	var g = d3.select(this), paths = bars(row, from(), to(), width);
	ACTIVITIES.forEach(function (a) { g.select("path." + a).attr("d", paths[a] || null); });
	drawMarks(g, row);
	row.drawn = true;
}

/* Launches, and files that became complete: one for each three pixels. */
function drawMarks(g, row) {
	var last = {}, d = {launch: "", commit: "", fail: ""}, high = row.height - 4;
	var group = row.kind === "group", inView = 0;
	if (group)
		row.steps.forEach(function (step) {
			inView += step.marks.filter(function (mark) {
				return mark.kind === "commit" && mark.at_us >= from() && mark.at_us <= to();
			}).length;
		});
	row.steps.forEach(function (step) {
		last = {};
		step.marks.forEach(function (mark) {
			var at = x(mark.at_us / 1e6);
			if (d[mark.kind] === undefined || at < -5 || at > width + 5 || at - last[mark.kind] < 3 ||
					(mark.kind === "launch" && (step.launches < 2 || group)) ||
					(mark.kind === "commit" && inView > width / MARK_WIDTH))
				return;
			last[mark.kind] = at;
			at = at.toFixed(1);
			if (mark.kind === "launch")
				d.launch += "M" + at + ",0V" + high;
			else if (mark.kind === "commit")
				d.commit += "M" + at + ",4l3.5,-5h-7z";
			else
				d.fail += "M" + at + ",0m-4,0l8,8m0,-8l-8,8";
		});
	});
	Object.keys(d).forEach(function (kind) { g.select("path." + kind).attr("d", d[kind] || null); });
}

function middle(row) { return row.top + row.height / 2; }

function drawArrows() {
	var place = {}, visible = [], a = from(), b = to();
	rows.forEach(function (row) {
		row.steps.forEach(function (step) { place[step.index] = row; });
	});
	if (d3.select("#arrows").property("checked"))
		visible = links.filter(function (mark) {
			return place[mark.step] !== place[mark.from_step] && mark.at_us >= a && mark.from_us <= b;
		});
	var many = visible.length > width / ARROW_WIDTH;
	d3.select("#note").text(many ? visible.length + " files went from step to step in this time: " +
		"their arrows are drawn when fewer are in view" : hint());
	var arrows = layers.arrows.selectAll("path").data(many ? [] : visible);
	arrows.enter().append("path").attr({"class": "arrow", "marker-end": "url(#arrowhead)"});
	arrows.exit().remove();
	arrows.attr("d", function (mark) {
		/* Who reads a file while it grows has it before it is complete. */
		var x0 = x(Math.min(mark.from_us, mark.at_us) / 1e6), x1 = x(mark.at_us / 1e6);
		var y0 = middle(place[mark.from_step]), y1 = middle(place[mark.step]), bend = (y1 - y0) / 2;
		return "M" + x0.toFixed(1) + "," + y0 + "C" + x0.toFixed(1) + "," + (y0 + bend) + " " +
			x1.toFixed(1) + "," + (y1 - bend) + " " + x1.toFixed(1) + "," + y1;
	});
}

function hint() {
	return x.domain()[1] - x.domain()[0] < total / 1e6 * .999 ?
		moment(x.domain()[0], .01) + " to " + moment(x.domain()[1], .01) : "";
}

/* Rows that are seen at once, the others when there is time. */
var pending = 0;
function draw(all) {
	var ticks = Math.max(2, Math.floor(width / 90)), step = x.ticks(ticks);
	step = step.length > 1 ? step[1] - step[0] : 1;
	ruler.call(axis.ticks(ticks).tickFormat(function (s) { return moment(s, step); }));
	var lines = layers.grid.selectAll("line").data(x.ticks(ticks));
	lines.enter().append("line").attr("y1", 0);
	lines.exit().remove();
	lines.attr({x1: x, x2: x, y2: rows.height});
	drawArrows();
	rows.forEach(function (row) { row.drawn = false; });
	if (all) {
		layers.rows.selectAll("g").each(drawRow);
		return;
	}
	var top = svg.node().getBoundingClientRect().top;
	layers.rows.selectAll("g").filter(function (row) {
		return top + row.top + row.height > -100 && top + row.top < window.innerHeight + 100;
	}).each(drawRow);
	clearTimeout(pending);
	pending = setTimeout(function () {
		layers.rows.selectAll("g").filter(function (row) { return !row.drawn; }).each(drawRow);
	}, 150);
}

/* ---- moving about ---- */

var queued = false;
function moved() {
	var t = zoom.translate(), s = zoom.scale();
	zoom.translate([Math.min(0, Math.max(width * (1 - s), t[0])), 0]);
	if (queued)
		return;
	queued = true;
	requestAnimationFrame(function () {
		queued = false;
		draw(false);
	});
}

function show(begin, end) {
	var length = Math.max(end - begin, total / 1e6 / zoom.scaleExtent()[1]), whole = total / 1e6;
	length = Math.min(length, whole);
	begin = Math.min(Math.max(0, begin), whole - length);
	zoom.scale(whole / length).translate([-begin / length * width, 0]);
	moved();
}

function button(id, change) {
	d3.select("#" + id).on("click", function () {
		var d = x.domain();
		change(d[0], d[1], (d[1] - d[0]) / 4);
	});
}
button("left", function (a, b, q) { show(a - q, b - q); });
button("right", function (a, b, q) { show(a + q, b + q); });
button("in", function (a, b, q) { show(a + q, b - q); });
button("out", function (a, b, q) { show(a - 2 * q, b + 2 * q); });
button("whole", function () { show(0, total / 1e6); });

svg.call(zoom);
/* A wheel, or one finger, moves the page; with Ctrl, or two, they zoom. */
var wheel = ["wheel.zoom", "mousewheel.zoom", "MozMousePixelScroll.zoom"].filter(function (name) {
	return svg.on(name);
});
wheel.forEach(function (name) {
	var zoomed = svg.on(name);
	svg.on(name, function () {
		if (d3.event.ctrlKey || d3.event.metaKey || d3.event.altKey)
			zoomed.apply(this, arguments);
	});
});
var touched = svg.on("touchstart.zoom");
svg.on("touchstart.zoom", function () {
	if (d3.event.touches.length > 1)
		touched.apply(this, arguments);
});
zoom.center(null);

/* ---- details ---- */

function pieceAt(step, us) {
	var low = 0, high = step.pieces.length;
	while (low < high) {
		var middle = (low + high) >> 1, p = step.pieces[middle];
		if (us < p[BEGIN])
			high = middle;
		else if (us >= p[BEGIN] + p[LENGTH])
			low = middle + 1;
		else
			return p;
	}
	return null;
}

function describeStep(step, us) {
	var p = pieceAt(step, us), lines = [];
	if (!p)
		return begun(step) ? [] : [step.status + (step.cause ? ": " + step.cause : "")];
	if (!run.detailed)
		return ["ran " + seconds(step.end_us - step.begin_us) + ", " + step.status];
	var parts = {wait: p[WAIT], copy: p[COPY], rest: p[REST],
		compute: Math.max(0, p[LENGTH] - p[WAIT] - p[COPY] - p[REST])};
	ACTIVITIES.forEach(function (a) {
		if (parts[a] > 0)
			lines.push(WORDS[a] + (parts[a] < p[LENGTH] ? " " + percent(parts[a] / p[LENGTH]) : "") +
				(a === "wait" && p[FILE] ? " for " + run.files[p[FILE] - 1] : ""));
	});
	lines.push("from " + moment(p[BEGIN] / 1e6, .001) + " for " + seconds(p[LENGTH]));
	if (p[IN] || p[OUT])
		lines.push("in " + bytes(p[IN] / p[LENGTH] * 1e6) + "/s, out " + bytes(p[OUT] / p[LENGTH] * 1e6) + "/s");
	return lines;
}

function describeGroup(row, us) {
	var n = {}, not = 0;
	row.steps.forEach(function (step) {
		var p = pieceAt(step, us), most = "compute";
		if (!p) {
			not++;
			return;
		}
		if (2 * p[REST] >= p[LENGTH])
			most = "rest";
		else if (2 * p[WAIT] >= p[LENGTH])
			most = "wait";
		else if (2 * p[COPY] >= p[LENGTH])
			most = "copy";
		n[most] = (n[most] || 0) + 1;
	});
	return ACTIVITIES.filter(function (a) { return n[a]; })
		.map(function (a) { return n[a] + " " + WORDS[a]; })
		.concat(not ? [not + " not running"] : [], ["at most " + row.task.most + " at once"]);
}

function describeMarks(row, us) {
	var near = (to() - from()) / width * 4;
	var found = [];
	row.steps.forEach(function (step) {
		step.marks.forEach(function (mark) {
			var what = {commit: " complete", fail: " failed", read: " opened"}[mark.kind];
			if (what && Math.abs(mark.at_us - us) <= near)
				found.push(titled(mark) + what);
		});
	});
	return found.length > 6 ? found.slice(0, 6).concat(["and " + (found.length - 6) + " more"]) : found;
}

function point() {
	var at = d3.mouse(svg.node()), us = x.invert(at[0] - left) * 1e6, row = null;
	rows.forEach(function (r) {
		if (at[1] >= r.top && at[1] < r.top + r.height)
			row = r;
	});
	if (!row || at[0] < left) {
		tip.hide();
		return;
	}
	var lines = (row.kind === "group" ? describeGroup(row, us) : describeStep(row.steps[0], us))
		.concat(describeMarks(row, us));
	tip.show(row.name + " at " + moment(us / 1e6, .001), lines);
}
svg.on("mousemove.tip", point).on("click.tip", point).on("mouseleave.tip", tip.hide);

/* ---- the table ---- */

function totalsOf(steps) {
	var sum = {};
	["wall_us", "compute_us", "copy_us", "wait_us", "rest_us", "bytes_in", "bytes_out"].forEach(function (key) {
		sum[key] = d3.sum(steps, function (step) { return step.totals[key] || 0; });
	});
	sum.launches = d3.sum(steps, function (step) { return step.launches; });
	return sum;
}

function statusOf(steps) {
	var counts = d3.nest().key(function (step) { return step.status; })
		.rollup(function (v) { return v.length; }).entries(steps);
	if (counts.length === 1)
		return counts[0].key + (steps.length === 1 && steps[0].cause ? ": " + steps[0].cause : "");
	return counts.map(function (c) { return c.values + " " + c.key; }).join(", ");
}

var restless = !run.steps.some(function (step) { return step.totals.rest_us >= 5000; });
var relaunched = run.steps.some(function (step) { return step.launches > 1; });
function columnsOf(name, steps, member) {
	var t = totalsOf(steps), cells = [["name", name]];
	if (ensembles.length)
		cells.push(["n", member ? "" : steps.length]);
	cells.push(["wall", seconds(t.wall_us)]);
	if (run.streamed) {
		if (run.detailed) {
			cells.push(["compute", seconds(t.compute_us)], ["copy", seconds(t.copy_us)]);
		}
		cells.push(["wait", seconds(t.wait_us)]);
		if (!restless)
			cells.push(["rest", seconds(t.rest_us)]);
		if (run.detailed)
			cells.push(["shares", t]);
		if (relaunched)
			cells.push(["launches", t.launches]);
		cells.push(["in", bytes(t.bytes_in)], ["out", bytes(t.bytes_out)]);
	}
	cells.push(["status", statusOf(steps)]);
	return cells;
}

var TITLES = {name: "task", n: "instances", wall: "wall", compute: "computing", copy: "transfer",
	wait: "waiting", rest: "between launches", shares: "", launches: "launches", "in": "bytes in",
	out: "bytes out", status: "status"};

function fill(row, cells) {
	cells.forEach(function (cell) {
		var td = row.append("td").attr("class", cell[0] + (cell[0] === "status" ? " text" : ""));
		if (cell[0] !== "shares") {
			td.text(cell[1]);
			return;
		}
		var bar = td.append("div").attr("class", "parts"), t = cell[1];
		ACTIVITIES.forEach(function (a) {
			bar.append("i").attr("title", WORDS[a] + " " + percent(t.wall_us ? t[a + "_us"] / t.wall_us : 0))
				.style({width: (t.wall_us ? 100 * t[a + "_us"] / t.wall_us : 0) + "%",
					background: "var(--" + a + ")"});
		});
	});
}

function tabulate() {
	var table = d3.select("#totals").text(""), body;
	var line = table.append("thead").append("tr");
	columnsOf("", run.steps.slice(0, 1)).forEach(function (cell) {
		line.append("th").attr("class", cell[0] === "status" ? "text" : null).text(TITLES[cell[0]]);
	});
	body = table.append("tbody");
	tasks.forEach(function (task) {
		fill(body.append("tr").attr("data-task", task.name), columnsOf(task.name, task.steps));
		if (task.steps.length > 1 && task.open)
			task.steps.forEach(function (step) {
				fill(body.append("tr").attr({"class": "member", "data-step": step.name}),
					columnsOf(step.name, [step], true));
			});
	});
	d3.select("#sums").text(ensembles.length ? "The line of an ensemble is the sum of its instances." : "");
}

/* ---- the rest of the page ---- */

function reopened() {
	var any = ensembles.some(function (task) { return task.open; });
	d3.select("#groups").attr("hidden", ensembles.length ? null : "")
		.text(any ? "Close ensembles" : "Open ensembles");
	layout();
	tabulate();
}

d3.select("#groups").on("click", function () {
	var any = ensembles.some(function (task) { return task.open; });
	ensembles.forEach(function (task) { task.open = !any; });
	reopened();
});

function tell() {
	var good = run.steps.every(function (step) { return step.state === "ok" || step.state === "skipped"; });
	document.title = (run.workflow || "Run") + ": timeline";
	d3.select("#title").text(run.workflow || run.file);
	d3.select("#facts").text([run.file, "in " + run.dir, "started " + run.started, seconds(run.length_us),
		run.steps.length + (run.steps.length === 1 ? " step" : " steps"),
		run.streamed ? "streamed" : "one step after the other, on plain files",
		good ? "all succeeded" : "not all succeeded"].join(" \u00b7 "));
	var trouble = [];
	if (run.why)
		trouble.push(run.why);
	if (run.streamed && !run.detailed)
		trouble.push("The daemon ended before it reported what the steps did: only their starts and ends are drawn.");
	if (run.marks_left_out)
		trouble.push(run.marks_left_out + " later launches and files are not shown: there were too many.");
	d3.select("#trouble").attr("hidden", trouble.length ? null : "").text(trouble.join(" "));
	var shown = run.detailed ? ACTIVITIES.filter(function (a) { return a !== "rest" || !restless; }) : ["compute"];
	var items = d3.select("#legend").selectAll("li").data(shown).enter().append("li");
	items.append("i").attr("class", function (a) { return "key " + a; });
	items.append("span").text(function (a) { return run.detailed ? WORDS[a] : "running"; });
	d3.select("#legend").append("li").text(run.marks.some(function (m) { return m.kind === "commit"; }) ?
		"\u25bc file complete" : "");
	d3.select("#arrows-label").attr("hidden", links.length ? null : "").on("change", function () { draw(false); });
	d3.select("#how").attr("hidden", run.detailed ? null : "");
	d3.select("#resolution").text("The daemon sampled each step every " + run.interval_ms +
		" ms; neighbouring pieces of time that are alike, or in long runs too many, are put together.");
	d3.select("#version").text(run.leat);
}

tell();
reopened();
var resized = 0;
d3.select(window).on("resize", function () {
	clearTimeout(resized);
	resized = setTimeout(layout, 100);
}).on("beforeprint", function () {
	document.getElementById("how").open = true;
	draw(true);
});
document.body.setAttribute("data-ready", "true");
}());
