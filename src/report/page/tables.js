/* Tables that are sorted by a column, and show more rows when asked to. */
var ROWS = 25;

/* columns: {key, title, help, text: of names, value: to sort by, show: as text, link: address or null,
 * bad: whether it is much}; `sorted`: the key of the column that they are sorted by at first. */
function table(id, columns, rows, sorted) {
	var root = d3.select("#" + id).html(""), body, foot, shown = ROWS, find = "", down = true;
	var by = columns.map(function (c) { return c.key; }).indexOf(sorted);
	var heads = root.append("thead").append("tr").selectAll("th").data(columns).enter().append("th")
		.attr("scope", "col").classed("text", function (c) { return c.text; });
	heads.append("button").attr("type", "button").attr("title", function (c) { return c.help || null; })
		.text(function (c) { return c.title; })
		.on("click", function (c, i) {
			down = by === i ? !down : !c.text;
			by = i;
			draw();
		});
	body = root.append("tbody");
	foot = root.append("tfoot").append("tr").append("td").attr("colspan", columns.length);

	function compare(a, b) {
		var x = columns[by].value(a), y = columns[by].value(b);
		if (x === undefined || y === undefined) /* what is empty comes last */
			return (x === undefined) - (y === undefined);
		var order = x < y ? -1 : x > y ? 1 : 0;
		return down ? -order : order;
	}

	function matches(row) {
		return !find || columns.some(function (c) {
			return c.text && String(c.value(row)).toLowerCase().indexOf(find) >= 0;
		});
	}

	function cell(c) {
		return function (row) {
			var td = d3.select(this), link = c.link && c.link(row);
			var text = c.show ? c.show(row) : c.value(row);
			td.attr("class", (c.text ? "text" : "") + (c.bad && c.bad(row) ? " bad" : ""));
			(link ? td.append("a").attr("href", link) : td).text(text === null || text === undefined ? "" : text);
		};
	}

	function draw() {
		var list = rows.filter(matches).sort(compare), tr;
		heads.attr("aria-sort", function (c, i) {
			return i === by ? (down ? "descending" : "ascending") : null;
		});
		body.html("");
		tr = body.selectAll("tr").data(list.slice(0, shown)).enter().append("tr");
		columns.forEach(function (c) { tr.append("td").each(cell(c)); });
		foot.html("");
		if (list.length > shown)
			foot.append("button").attr("type", "button")
				.text("Show " + (list.length > 500 + shown ? 500 : "all") + " more of " +
					count(list.length)).on("click", function () {
					shown += list.length > 500 + shown ? 500 : list.length;
					draw();
				});
		else if (!list.length)
			foot.text("Nothing");
	}
	draw();
	return {find: function (text) {
		find = text.toLowerCase();
		draw();
	}, all: function () {
		shown = Math.max(shown, 60);
		draw();
	}};
}

/* ---- the columns of the report's tables ---- */

var SHOWN = {count: count, bytes: bytes, share: percent, ns: duration,
	us: function (us) { return duration(us * 1000); },
	percent: function (p) { return percent(p / 100); },
	factor: function (f) { return f.toFixed(1) + "x"; }};

/* A member of a row: "read.bytes". */
function member(row, key) {
	return key.split(".").reduce(function (o, k) { return o === undefined || o === null ? undefined : o[k]; }, row);
}

/* As the report describes them. `special`: by the key, what of a column only the page knows: value, show,
 * link, bad. */
function columnsOf(name, rows, special) {
	return report.columns[name].map(function (c) {
		var column = {key: c.key, title: c.title.charAt(0).toUpperCase() + c.title.slice(1), help: c.help,
			text: c.unit === "name", optional: c.optional,
			value: function (row) { return member(row, c.key); }};
		var more = special[c.key] || {};
		Object.keys(more).forEach(function (key) { column[key] = more[key]; });
		if (!column.show && SHOWN[c.unit])
			column.show = function (row) {
				var v = column.value(row);
				return v === undefined || v === null ? "" : SHOWN[c.unit](v);
			};
		return column;
	}).filter(function (c) { return !c.optional || rows.some(c.value); });
}

function reread(edges) {
	var all = d3.sum(edges, function (p) { return way(p, "read").bytes; });
	var unique = d3.sum(edges, function (p) { return way(p, "read").unique; });
	return all ? (all - unique) / all : 0;
}

function taskLink(id) { return taskOf[id] ? "#task-" + id : null; }
function fileLink(id) { return fileOf[id] && fileOf[id].spans ? "#file-" + id : null; }

function taskTable() {
	return table("task-table", columnsOf("tasks", report.tasks, {
		name: {link: function (t) { return taskLink(t.id); }},
		reread: {bad: function (t) { return t.reread > .5; }}
	}), report.tasks, "time_ns");
}

/* With the columns of the task and of the file only where they are not the same in all rows. */
function accessTable(id, rows, named, filed, sorted) {
	return table(id, columnsOf("edges", rows, {
		"edge.task": {value: function (a) { return taskName(a.edge.task); },
			link: function (a) { return taskLink(a.edge.task); }},
		direction: {value: function (a) { return a.name; },
			show: function (a) { return a.name === "read" ? "reads" : a.name === "written" ? "writes" : "maps"; }},
		"edge.file": {value: function (a) { return fileName(a.edge.file); },
			link: function (a) { return fileLink(a.edge.file); }},
		reread_factor: {show: function (a) {
			return a.reread_factor ? (a.exact ? "" : "~") + SHOWN.factor(a.reread_factor) : "";
		}, bad: function (a) { return a.reread_factor >= 2; }},
		mean_bytes: {bad: function (a) { return a.calls >= 1000 && a.mean_bytes < 4096; }}
	}).filter(function (c) {
		return (named || c.key !== "edge.task") && (filed || c.key !== "edge.file");
	}), rows, sorted);
}

/* What went one way of each edge: its members, the edge and the name of the way. */
function accesses(edges) {
	var list = [];
	function add(e, name, members) {
		var a = {edge: e, name: name, way: members};
		Object.keys(members).forEach(function (key) { a[key] = members[key]; });
		list.push(a);
	}
	edges.forEach(function (e) {
		WAYS.forEach(function (name) {
			if (e[name])
				add(e, name, e[name]);
		});
		if (e.mapped_bytes && !e.read && !e.written) {
			add(e, "mapped", NOTHING);
			list[list.length - 1].first_us = e.first_us;
			list[list.length - 1].last_us = e.last_us;
		}
	});
	return list;
}

function filesTable() {
	function tasksWith(name) {
		return function (f) { return f.edges.filter(function (e) { return way(e, name).bytes; }).length; };
	}
	return table("files-table", columnsOf("files", report.files, {
		path: {link: function (f) { return fileLink(f.id); },
			show: function (f) {
				return f.path + (f.removed ? " (removed)" : f.replaced ? " (replaced)" :
					f.folded ? " (several files)" : "") +
					(f.inside ? " (in a container " + f.inside + ")" : "");
			}},
		writers: {value: tasksWith("written")},
		readers: {value: tasksWith("read")}
	}), report.files, report.files.some(function (f) { return f.read; }) ? "read" : "written");
}

function waitsTable() {
	byId("waits").hidden = !report.waits.length;
	table("waits-table", columnsOf("waits", report.waits, {
		step: {link: function (w) { return taskLink(w.task); }}
	}), report.waits, "waited_ns");
}

function callsTable() {
	var rows = Object.keys(report.types).map(function (name) {
		report.types[name].name = name;
		return report.types[name];
	});
	table("calls-table", columnsOf("calls", rows, {}), rows, "time_ns");
}
