/* Charts of bytes over time, of tasks, sizes, and of how long files were used. */
var COLOURS = 8;

/* An empty chart as wide as its place. */
function canvas(id, height, margin, label) {
	var place = byId(id), width = Math.max(280, Math.floor(place.getBoundingClientRect().width) || 900);
	var svg = d3.select(place).html("").append("svg").attr({viewBox: "0 0 " + width + " " + height,
		height: height, role: "img", "aria-label": label});
	var g = svg.append("g").attr("transform", "translate(" + margin.left + "," + margin.top + ")");
	return {svg: svg, g: g, width: width - margin.left - margin.right,
		height: height - margin.top - margin.bottom, whole: width};
}

function axes(c, x, y, formatX, formatY, ticks) {
	var grid = c.g.append("g").attr("class", "grid");
	grid.selectAll("line").data(y.ticks(ticks || 4)).enter().append("line")
		.attr({x1: 0, x2: c.width, y1: y, y2: y});
	c.g.append("g").attr({"class": "axis", transform: "translate(0," + c.height + ")"})
		.call(d3.svg.axis().scale(x).orient("bottom").ticks(Math.max(2, Math.floor(c.width / 90)))
			.tickFormat(formatX).tickSize(4));
	c.g.append("g").attr("class", "axis").call(d3.svg.axis().scale(y).orient("left")
		.ticks(ticks || 4).tickFormat(formatY).tickSize(0).tickPadding(6));
}

function stepOf(x, width) {
	var t = x.ticks(Math.max(2, Math.floor(width / 90)));
	return t.length > 1 ? t[1] - t[0] : 1;
}

function secondsAxis(x, width) {
	var step = stepOf(x, width);
	return function (s) { return moment(s, step); };
}

/* Sizes are round in powers of two. */
function byteTicks(scale, most) {
	var ticks = [], step = Math.pow(2, Math.ceil(Math.log(Math.max(1, most / 5)) / Math.LN2));
	for (var at = Math.ceil(scale.domain()[0] / step) * step; at <= scale.domain()[1]; at += step)
		ticks.push(at);
	return ticks;
}

/* ---- bytes over time ---- */

var PIECES = 256;

/* layers: {name, colour, v: bytes of each piece}; each stands on the ones before. */
function areas(id, layers, height, label) {
	var c = canvas(id, height, {left: 66, right: 26, top: 8, bottom: 24}, label);
	var piece = report.piece_us / 1e6, begin = report.series_begin_us / 1e6;
	var end = Math.max(report.length_us / 1e6, begin + piece), n = Math.min(PIECES, Math.ceil((end - begin) / piece));
	var sums = new Array(n), stacked = layers.map(function (l) {
		return d3.range(n).map(function (i) {
			var low = sums[i] || 0, rate = (l.v[i] || 0) / piece;
			sums[i] = low + rate;
			return [low, sums[i]];
		});
	});
	var x = d3.scale.linear().domain([0, end]).range([0, c.width]);
	var y = d3.scale.linear().domain([0, d3.max(sums) || 1]).nice(4).range([c.height, 0]);
	axes(c, x, y, secondsAxis(x, c.width), function (v) { return bytes(v) + "/s"; });
	layers.forEach(function (l, k) {
		var up = "", down = "";
		stacked[k].forEach(function (pair, i) {
			var x0 = x(begin + i * piece).toFixed(1), x1 = x(Math.min(end, begin + (i + 1) * piece)).toFixed(1);
			up += "L" + x0 + "," + y(pair[1]).toFixed(1) + "L" + x1 + "," + y(pair[1]).toFixed(1);
			down = "L" + x1 + "," + y(pair[0]).toFixed(1) + "L" + x0 + "," + y(pair[0]).toFixed(1) + down;
		});
		c.g.append("path").attr("d", "M" + (up + down).slice(1) + "z").style("fill", "var(" + l.colour + ")")
			.attr("data-name", l.name);
	});
	var line = c.g.append("line").attr({"class": "cross", y1: 0, y2: c.height}).style("display", "none");
	c.g.append("rect").attr({width: c.width, height: c.height, fill: "transparent"})
		.on("mousemove", function () {
			var s = x.invert(d3.mouse(this)[0]), i = Math.floor((s - begin) / piece);
			line.style("display", null).attr({x1: x(s), x2: x(s)});
			tip.show(null, [moment(s, piece)].concat(layers.filter(function (l) { return l.v[i]; })
				.map(function (l) { return l.name + ": " + bytes(l.v[i] / piece) + "/s"; })));
		}).on("mouseleave", function () {
			line.style("display", "none");
			tip.hide();
		});
}

function legend(id, items) {
	var li = d3.select("#" + id).html("").selectAll("li").data(items).enter().append("li");
	li.append("i").attr("class", function (d) { return "key" + (d.hollow ? " hollow" : ""); })
		.style(function () { return {}; })
		.each(function (d) {
			this.style[d.hollow ? "borderColor" : "background"] = "var(" + d.colour + ")";
		});
	li.append("span").text(function (d) { return d.name; });
}

/* The largest have colours, the others are one. */
function largest(list, value, name) {
	var sorted = list.slice().sort(function (a, b) { return value(b) - value(a); });
	var top = sorted.slice(0, COLOURS).filter(value).map(function (d, i) {
		return {name: name(d), colour: "--c" + i, of: [d]};
	});
	var rest = sorted.slice(COLOURS).filter(value);
	if (rest.length)
		top.push({name: rest.length + " others", colour: "--c8", of: rest});
	return top;
}

var timeBy = "all", timeWay = "both";

function added(list, key) {
	var sum = new Array(PIECES);
	for (var i = 0; i < PIECES; i++)
		sum[i] = d3.sum(list, function (d) { return d.series[key][i] || 0; });
	return sum;
}

function drawTime() {
	var layers, ways = timeWay === "both" ? WAYS : [timeWay];
	if (timeBy === "all") {
		layers = ways.map(function (name) {
			return {name: name, colour: "--" + name, v: report.series[name]};
		});
	} else {
		var list = {task: report.tasks, node: report.nodes, system: report.systems}[timeBy];
		var title = {task: function (t) { return t.name; },
			node: function (n) { return n.host || "machine " + (n.id + 1); },
			system: function (s) {
				return s.at ? s.at + " (" + s.type + ")" : "file system not recorded";
			}}[timeBy];
		layers = largest(list, function (d) {
			return d3.sum(ways, function (name) { return d3.sum(d.series[name]); });
		}, title);
		layers.forEach(function (l) {
			var sums = ways.map(function (name) { return added(l.of, name); });
			l.v = sums[0].map(function (n, i) { return n + (sums[1] ? sums[1][i] : 0); });
		});
	}
	areas("time-chart", layers, 230, "Bytes in a second, over time");
	legend("time-legend", layers);
}

/* ---- sizes ---- */

function sizeBars(id, of) {
	var bins = Math.max(way(of, "read").sizes.length, way(of, "written").sizes.length, 1), first = 0;
	while (first < bins - 1 && !WAYS.some(function (name) { return way(of, name).sizes[first]; }))
		first++;
	var all = d3.range(first, bins);
	var c = canvas(id, 190, {left: 66, right: 10, top: 8, bottom: 40}, "Calls by the bytes requested");
	var x = d3.scale.ordinal().domain(all).rangeBands([0, c.width], .15);
	var most = d3.max(WAYS, function (name) { return d3.max(way(of, name).sizes) || 0; }) || 1;
	/* Rare sizes are seen beside frequent ones. */
	var y = d3.scale.log().domain([.5, Math.max(2, most)]).range([c.height, 0]);
	var every = Math.ceil(58 / (c.width / all.length));
	c.g.append("g").attr({"class": "axis", transform: "translate(0," + c.height + ")"})
		.call(d3.svg.axis().scale(x).orient("bottom").tickSize(4)
			.tickValues(all.filter(function (b, i) { return i % every === 0; })).tickFormat(sizeName));
	c.g.append("g").attr("class", "axis").call(d3.svg.axis().scale(y).orient("left").tickSize(0)
		.tickPadding(6).tickValues(d3.range(0, 13).map(function (e) { return Math.pow(10, e); })
			.filter(function (n) { return n <= y.domain()[1]; })).tickFormat(function (n) { return count(n); }));
	WAYS.forEach(function (name, k) {
		var bars = c.g.selectAll("rect." + name).data(all.filter(function (b) { return way(of, name).sizes[b]; }))
			.enter().append("rect").attr({"class": name, width: x.rangeBand() / 2,
				x: function (b) { return x(b) + k * x.rangeBand() / 2; },
				y: function (b) { return y(way(of, name).sizes[b]); },
				height: function (b) { return c.height - y(way(of, name).sizes[b]); }});
		tells(bars, function (b) {
			return count(way(of, name).sizes[b]) + (name === "read" ? " reads" : " writes") + " of " +
				sizeName(b) + (b > 1 ? " to " + sizeName(b + 1) : "");
		});
	});
	c.g.append("text").attr({x: c.width, y: c.height + 36, "text-anchor": "end", "class": "faint"})
		.text("requested; blue reads, orange writes");
}

/* ---- tasks ---- */

var MOST_BARS = 60;

function drawTasks() {
	var tasks = report.tasks.slice(0, MOST_BARS).sort(function (a, b) { return a.begin_us - b.begin_us; });
	var high = tasks.length > 30 ? 14 : 20, left = 0;
	tasks.forEach(function (t) { left = Math.max(left, Math.min(30, t.name.length) * 7 + 14); });
	var narrow = byId("task-chart").getBoundingClientRect().width < 600;
	left = narrow ? Math.min(left, 110) : left;
	var c = canvas("task-chart", tasks.length * high + 32, {left: left, right: 26, top: 4, bottom: 24},
		"Tasks over time");
	var end = d3.max(tasks, function (t) { return t.begin_us + t.run_us; }) || 1;
	var x = d3.scale.linear().domain([0, Math.max(end, report.length_us) / 1e6]).range([0, c.width]);
	c.g.append("g").attr({"class": "axis", transform: "translate(0," + c.height + ")"})
		.call(d3.svg.axis().scale(x).orient("bottom").ticks(Math.max(2, Math.floor(c.width / 90)))
			.tickFormat(secondsAxis(x, c.width)).tickSize(4));
	var rows = c.g.selectAll("a").data(tasks).enter().append("a")
		.attr("xlink:href", function (t) { return "#task-" + t.id; })
		.attr("transform", function (t, i) { return "translate(0," + i * high + ")"; });
	rows.append("rect").attr({"class": "stripe", x: -left, width: c.whole, height: high - 1});
	rows.append("text").attr({x: -8, y: high / 2 + 4, "text-anchor": "end"})
		.text(function (t) { return shortened(t.name, Math.floor((left - 10) / 7)); });
	rows.append("rect").attr({"class": "run", y: 2, height: high - 5,
		x: function (t) { return x(t.begin_us / 1e6); },
		width: function (t) { return Math.max(1, x(t.run_us / 1e6)); }});
	rows.each(function (t) {
		var g = d3.select(this), piece = report.piece_us / 1e6, begin = report.series_begin_us / 1e6;
		t.series.time_us.forEach(function (us, i) {
			if (us)
				g.append("rect").attr({"class": "busy", y: 2, height: high - 5,
					x: x(begin + i * piece).toFixed(1),
					width: Math.max(.7, x(piece)).toFixed(1)})
					.style("fill-opacity", Math.max(.12, Math.min(1, us / report.piece_us)).toFixed(2));
		});
	});
	tells(rows, function (t) {
		return t.name + "\n" + duration(t.run_us * 1000) + ", " + duration(t.time_ns) + " of it in calls\nread " +
			bytes(way(t, "read").bytes) + ", written " + bytes(way(t, "written").bytes);
	});
}

/* ---- stream or bulk: how long files were used ---- */

var accessTask = "";

function drawAccess() {
	var list = accesses(report.edges).filter(function (a) {
		return a.edge.bulkiness !== undefined && a.way.bytes && (!accessTask || String(a.edge.task) === accessTask);
	});
	var c = canvas("access-chart", 340, {left: 66, right: 28, top: 66, bottom: 42},
		"Files by the share of the task's run in which they were used, and by bytes");
	var x = d3.scale.linear().domain([0, 100]).range([0, c.width]);
	var most = d3.max(list, function (a) { return a.way.bytes; }) || 1;
	var y = d3.scale.log().domain([1, Math.max(10, most * 1.5)]).range([c.height, 0]);
	var powers = d3.range(0, 19, most > 1e9 ? 3 : 2).map(function (e) { return Math.pow(10, e); })
		.filter(function (n) { return n <= y.domain()[1]; });
	c.g.append("g").attr("class", "grid").selectAll("line").data(powers).enter().append("line")
		.attr({x1: 0, x2: c.width, y1: y, y2: y});
	c.g.append("g").attr({"class": "axis", transform: "translate(0," + c.height + ")"})
		.call(d3.svg.axis().scale(x).orient("bottom").tickValues(d3.range(0, 101, 20)).tickSize(4)
			.tickFormat(function (p) { return p + " %"; }));
	c.g.append("g").attr("class", "axis").call(d3.svg.axis().scale(y).orient("left").tickValues(powers)
		.tickSize(0).tickPadding(6).tickFormat(bytes));
	c.g.append("text").attr({x: 0, y: c.height + 36, "class": "faint"}).text("\u25c2 in bulk");
	c.g.append("text").attr({x: c.width, y: c.height + 36, "text-anchor": "end", "class": "faint"})
		.text("like a stream \u25b8");
	bulkBars(c, x, list);
	var dots = c.g.selectAll("a").data(list).enter().append("a")
		.attr("xlink:href", function (a) { return fileLink(a.edge.file) || taskLink(a.edge.task); });
	dots.append("circle").attr({r: 5, cx: function (a) { return x(a.edge.bulkiness); },
		cy: function (a) { return y(Math.max(1, a.way.bytes)); },
		"class": function (a) { return "dot " + a.name; },
		stroke: function (a) { return "var(--" + a.name + ")"; }});
	tells(dots, function (a) {
		return taskName(a.edge.task) + (a.name === "read" ? " reads " : " writes ") + fileName(a.edge.file) +
			"\n" + bytes(a.way.bytes) + " over " + percent(a.edge.bulkiness / 100) + " of its run (" +
			duration((a.edge.last_us - a.edge.first_us) * 1000) + ")";
	});
}

/* How many of them in each twentieth. */
function bulkBars(c, x, list) {
	var bins = d3.range(20).map(function () { return {read: 0, written: 0}; });
	list.forEach(function (a) { bins[Math.min(19, Math.floor(a.edge.bulkiness / 5))][a.name]++; });
	var most = d3.max(bins, function (b) { return b.read + b.written; }) || 1;
	var h = d3.scale.linear().domain([0, most]).range([0, 44]);
	bins.forEach(function (b, i) {
		var floor = -8;
		WAYS.forEach(function (name) {
			if (!b[name])
				return;
			floor -= h(b[name]);
			tells(c.g.append("rect").datum(b).attr({"class": name, x: x(i * 5) + 1, width: x(5) - 2, y: floor,
				height: h(b[name])}), function () {
				return count(b[name]) + " are " + (name === "read" ? "read" : "written") + " over " +
					i * 5 + " to " + (i + 1) * 5 + " % of the task's run";
			});
		});
		if (b.read + b.written)
			c.g.append("text").attr({x: x(i * 5 + 2.5), y: floor - 3, "text-anchor": "middle", "class": "faint"})
				.text(c.width < 500 ? "" : count(b.read + b.written));
	});
}
