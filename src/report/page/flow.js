/* One file over time, and the graph of tasks and files. */

/* ---- places in a file over time ---- */

var file = null, fileClock = "run", fileX = d3.scale.linear(), fileWhole = [0, 1];

/* A span's time, in seconds since the report's beginning, or in percent of its task's run. */
function clockOf(task, us) {
	if (fileClock === "run")
		return us / 1e6;
	var t = taskOf[task];
	return t && t.run_us ? 100 * (us - t.begin_us) / t.run_us : 0;
}

function fileTasks() {
	var ids = {}, colours = {};
	file.spans.forEach(function (s) { ids[s[6]] = (ids[s[6]] || 0) + s[4]; });
	largest(Object.keys(ids), function (id) { return ids[id] || 1; }, taskName).forEach(function (l) {
		l.of.forEach(function (id) { colours[id] = l.colour; });
	});
	return colours;
}

function chooseFile(id) {
	file = fileOf[id];
	byId("file-name").value = String(id);
	resetFile();
	accessTable("file-tasks", accesses(file.edges), true, false, "bytes");
}

function resetFile() {
	var low = Infinity, high = -Infinity;
	file.spans.forEach(function (s) {
		low = Math.min(low, clockOf(s[6], s[0]));
		high = Math.max(high, clockOf(s[6], s[1]));
	});
	if (fileClock === "share") {
		low = Math.min(0, low);
		high = Math.max(100, high);
	}
	if (!(high > low)) {
		low = isFinite(low) ? low - .5 : 0;
		high = low + 1;
	}
	fileWhole = [low, high];
	fileX.domain(fileWhole);
	drawFile();
}

function zoomFile(begin, end) {
	var whole = fileWhole[1] - fileWhole[0], length = Math.max(Math.min(end - begin, whole), whole / 1e5);
	begin = Math.max(fileWhole[0], Math.min(begin, fileWhole[1] - length));
	fileX.domain([begin, begin + length]);
	drawFile();
}

function moveFile(part) {
	var d = fileX.domain(), by = (d[1] - d[0]) * part;
	zoomFile(d[0] + by, d[1] + by);
}

function scaleFile(factor, at) {
	var d = fileX.domain(), fixed = at === undefined ? (d[0] + d[1]) / 2 : at;
	zoomFile(fixed - (fixed - d[0]) * factor, fixed + (d[1] - fixed) * factor);
}

function spanText(s) {
	return taskName(s[6]) + (s[7] ? " writes " : " reads ") + bytes(s[4]) +
		(s[5] > 1 ? " in " + count(s[5]) + " calls" : "") + "\nbytes " + count(s[2]) + " to " + count(s[3]) +
		"\nat " + duration(s[0] * 1000) + ", for " + duration(Math.max(0, s[1] - s[0]) * 1000);
}

function drawFile() {
	var c = canvas("file-chart", 330, {left: 66, right: 28, top: 8, bottom: 26}, "Places in " + file.path + " over time");
	var colours = fileTasks(), d = fileX.domain();
	var high = d3.max(file.spans, function (s) { return s[3]; }) || 1;
	var y = d3.scale.linear().domain([0, high]).range([c.height, 0]);
	fileX.range([0, c.width]);
	c.svg.append("defs").append("clipPath").attr("id", "file-clip").append("rect")
		.attr({x: -1, y: -2, width: c.width + 2, height: c.height + 4});
	var ticks = byteTicks(y, high);
	c.g.append("g").attr("class", "grid").selectAll("line").data(ticks).enter().append("line")
		.attr({x1: 0, x2: c.width, y1: y, y2: y});
	c.g.append("g").attr("class", "axis").call(d3.svg.axis().scale(y).orient("left").tickValues(ticks)
		.tickSize(0).tickPadding(6).tickFormat(binaryBytes));
	c.g.append("g").attr({"class": "axis", transform: "translate(0," + c.height + ")"})
		.call(d3.svg.axis().scale(fileX).orient("bottom").ticks(Math.max(2, Math.floor(c.width / 90)))
			.tickSize(4).tickFormat(fileClock === "run" ? secondsAxis(fileX, c.width) :
				function (p) { return p + " %"; }));
	var seen = file.spans.filter(function (s) {
		return clockOf(s[6], s[1]) >= d[0] && clockOf(s[6], s[0]) <= d[1];
	});
	var spans = c.g.append("g").attr("clip-path", "url(#file-clip)").selectAll("rect").data(seen)
		.enter().append("rect").attr({"class": "span",
			x: function (s) { return fileX(clockOf(s[6], s[0])).toFixed(1); },
			width: function (s) {
				return Math.max(1.5, fileX(clockOf(s[6], s[1])) - fileX(clockOf(s[6], s[0]))).toFixed(1);
			},
			y: function (s) { return Math.min(y(s[3]), y(s[2]) - 1.5).toFixed(1); },
			height: function (s) { return Math.max(1.5, y(s[2]) - y(s[3])).toFixed(1); }});
	/* Writes are filled, reads hollow; what was put together is as dense as it was used. */
	spans.each(function (s) {
		var dense = s[3] > s[2] ? Math.min(1, s[4] / (s[3] - s[2])) : 1;
		this.style.fill = this.style.stroke = "var(" + (colours[s[6]] || "--c8") + ")";
		this.style.fillOpacity = ((s[7] ? .8 : .25) * Math.max(.3, dense)).toFixed(2);
		this.style.strokeOpacity = Math.max(.35, dense).toFixed(2);
	});
	tells(spans, spanText);
	legend("file-legend", Object.keys(colours).slice(0, 12).map(function (id) {
		return {name: taskName(id), colour: colours[id]};
	}).concat([{name: "written", colour: "--ink"}, {name: "read", colour: "--ink", hollow: true}]));
	d3.select("#file-note").text(file.each_call ? "Each bar is one call." :
		"There were too many calls to draw each: neighbours in time and place are one bar.");
}

function startFile() {
	var drawn = report.files.filter(function (f) { return f.spans && f.spans.length; });
	if (!drawn.length) {
		byId("file").hidden = true;
		return;
	}
	options("file-name", drawn, function (f) { return f.id; }, function (f) {
		return shortened(f.path, 90) + " (" + bytes(f.read + f.written) + ")";
	});
	d3.select("#file-name").on("change", function () { location.hash = "#file-" + this.value; });
	choice("file-clock", [{value: "run", text: "time"}, {value: "share", text: "% of the task's run"}], fileClock,
		function (value) {
			fileClock = value;
			resetFile();
		});
	[["left", function () { moveFile(-.25); }], ["right", function () { moveFile(.25); }],
		["in", function () { scaleFile(.5); }], ["out", function () { scaleFile(2); }],
		["whole", resetFile]].forEach(function (b) { d3.select("#file-" + b[0]).on("click", b[1]); });
	d3.select("#file-chart").on("keydown", function () {
		var act = {ArrowLeft: function () { moveFile(-.25); }, ArrowRight: function () { moveFile(.25); },
			"+": function () { scaleFile(.5); }, "-": function () { scaleFile(2); },
			"0": resetFile}[d3.event.key];
		if (act) {
			d3.event.preventDefault();
			act();
		}
	}).on("wheel", function () {
		/* A wheel moves the page; with Ctrl it zooms. */
		if (!d3.event.ctrlKey)
			return;
		d3.event.preventDefault();
		scaleFile(d3.event.deltaY > 0 ? 1.4 : 1 / 1.4,
			fileX.invert(d3.event.clientX - this.getBoundingClientRect().left - 66));
	});
	/* What two tasks share says more than what one keeps for itself. */
	chooseFile(drawn.slice().sort(function (a, b) {
		return (b.edges.length > 1) - (a.edges.length > 1) || b.read + b.written - a.read - a.written;
	})[0].id);
}

/* ---- from task to file to task ---- */

var MOST_LINKS = 60, COLUMN = 190, NODE = 22;

/* The links with the most bytes, and what they join. */
function graphOf() {
	var links = [], nodes = {};
	report.edges.forEach(function (p) {
		WAYS.forEach(function (name) {
			var mapped = p["mapped_to_" + (name === "read" ? "read" : "write")];
			if (way(p, name).bytes || (mapped && name === "read"))
				links.push({edge: p, name: name, bytes: way(p, name).bytes || p.mapped_bytes});
		});
	});
	/* Of files of one task alone only large ones say something; and what no task of the trace wrote
	 * is an input only if it is large. */
	links = links.filter(function (l) {
		var f = fileOf[l.edge.file];
		var users = f ? f.edges.filter(function (p) { return p.read || p.written; }).length : 0;
		return taskOf[l.edge.task] && f && !f.folded && ((users > 1 && f.written) || l.bytes > 1e6);
	}).sort(function (a, b) { return b.bytes - a.bytes; });
	var left = Math.max(0, links.length - MOST_LINKS);
	links = links.slice(0, MOST_LINKS);
	function node(kind, id) {
		var key = kind + id;
		return nodes[key] || (nodes[key] = {kind: kind, id: id, depth: 0, outs: [],
			name: kind === "task" ? taskName(id) : fileName(id).replace(/.*\/(?=.)/, "")});
	}
	links.forEach(function (l) {
		var t = node("task", l.edge.task), f = node("file", l.edge.file);
		l.from = l.name === "read" ? f : t;
		l.to = l.name === "read" ? t : f;
		/* What a task reads of its own file does not lead on. */
		l.back = l.name === "read" && way(l.edge, "written").bytes > 0;
	});
	return {links: links, nodes: d3.values(nodes), left: left};
}

/* Columns: each behind all that lead to it. Circles end after as many rounds as there are nodes. */
function layer(graph) {
	var changed = true, rounds = graph.nodes.length;
	while (changed && rounds-- > 0) {
		changed = false;
		graph.links.forEach(function (l) {
			if (!l.back && l.to.depth < l.from.depth + 1 && l.from.depth < 24) {
				l.to.depth = l.from.depth + 1;
				changed = true;
			}
		});
	}
	/* Inputs stand close to who reads them. */
	graph.nodes.forEach(function (n) {
		var outs = graph.links.filter(function (l) { return l.from === n && !l.back; });
		if (n.depth === 0 && n.kind === "file" && outs.length)
			n.depth = d3.min(outs, function (l) { return l.to.depth; }) - 1;
	});
	var columns = d3.nest().key(function (n) { return n.depth; }).sortKeys(function (a, b) { return a - b; })
		.entries(graph.nodes).map(function (e) { return e.values; });
	columns.forEach(function (column) { column.forEach(function (n, i) { n.row = i; }); });
	/* Fewer crossings: each at the mean of its neighbours. */
	for (var round = 0; round < 8; round++)
		columns.forEach(function (column) {
			column.forEach(function (n) {
				var near = graph.links.filter(function (l) { return l.from === n || l.to === n; });
				n.mean = d3.mean(near, function (l) { return (l.from === n ? l.to : l.from).row; });
			});
			column.sort(function (a, b) { return a.mean - b.mean; });
			column.forEach(function (n, i) { n.row = i; });
		});
	return columns;
}

function drawGraph() {
	var graph = graphOf(), columns = layer(graph), rows = d3.max(columns, function (c) { return c.length; });
	byId("graph").hidden = !graph.links.length;
	if (!graph.links.length)
		return;
	d3.select("#graph-note").text("Boxes with round corners are tasks, the others files; orange is written, blue read." +
		(graph.left ? " The " + MOST_LINKS + " links with the most bytes of " + (MOST_LINKS + graph.left) + "." : ""));
	var need = columns.length * COLUMN, place = byId("graph-chart").getBoundingClientRect().width;
	var c = canvas("graph-chart", rows * (NODE + 10) + 16, {left: 2, right: 2, top: 8, bottom: 8}, "Files from task to task");
	var step = Math.max(need > place ? 120 : COLUMN, Math.min(300, c.width / columns.length));
	if (step * columns.length > c.width) {
		/* Wider than the page: scrolled, but for print. */
		c.svg.attr("viewBox", "0 0 " + (step * columns.length + 4) + " " + (rows * (NODE + 10) + 16));
		c.svg.attr("height", null);
		c.svg.style("min-width", Math.min(step * columns.length, 2400) * .6 + "px");
		byId("graph-chart").style.overflowX = "auto";
	}
	var box = step - 56;
	columns.forEach(function (column, k) {
		column.forEach(function (n, i) {
			n.x = k * step;
			n.y = (i + (rows - column.length) / 2) * (NODE + 10);
		});
	});
	var most = d3.max(graph.links, function (l) { return l.bytes; }) || 1;
	var width = d3.scale.sqrt().domain([0, most]).range([1, 12]);
	var links = c.g.selectAll("path").data(graph.links).enter().append("path")
		.attr("class", function (l) { return "link " + l.name; })
		.attr("stroke-width", function (l) { return width(l.bytes).toFixed(1); })
		.attr("d", function (l) {
			var x0 = l.from.x + box, y0 = l.from.y + NODE / 2, x1 = l.to.x, y1 = l.to.y + NODE / 2;
			var bend = l.back ? 40 : Math.max(20, (x1 - x0) / 2);
			return "M" + x0 + "," + y0 + "C" + (x0 + bend) + "," + y0 + " " + (x1 - bend) + "," + y1 + " " + x1 + "," + y1;
		});
	tells(links, function (l) {
		return taskName(l.edge.task) + (l.name === "read" ? " reads " : " writes ") + fileName(l.edge.file) + "\n" +
			(l.edge[l.name] ? bytes(l.bytes) : bytes(l.bytes) + " mapped");
	});
	var nodes = c.g.selectAll("a").data(graph.nodes).enter().append("a")
		.attr("xlink:href", function (n) { return (n.kind === "task" ? taskLink : fileLink)(n.id); })
		.append("g").attr("class", function (n) { return "node " + n.kind; })
		.attr("transform", function (n) { return "translate(" + n.x + "," + n.y + ")"; });
	nodes.append("rect").attr({width: box, height: NODE, rx: function (n) { return n.kind === "task" ? 9 : 0; }});
	nodes.append("text").attr({x: 8, y: NODE / 2 + 4})
		.text(function (n) { return shortened(n.name, Math.floor((box - 12) / 7)); });
	tells(nodes, function (n) { return n.kind === "task" ? taskName(n.id) : fileName(n.id); });
}
