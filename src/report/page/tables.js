/* Tables that are sorted by a column, and show more rows when asked to. */
var ROWS = 25;

/* columns: {title, text: of names, value: to sort by, show: as text, link: address or null, bad: whether
 * it is much}. */
function table(id, columns, rows, sorted) {
	var root = d3.select("#" + id).html(""), body, foot, shown = ROWS, find = "", by = sorted, down = true;
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
			(link ? td.append("a").attr("href", link) : td).text(text === null ? "" : text);
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

function number(title, value, show, more) {
	var c = {title: title, value: value, show: function (row) { return show(value(row)); }};
	Object.keys(more || {}).forEach(function (key) { c[key] = more[key]; });
	return c;
}

function again(pairs) {
	var all = d3.sum(pairs, function (p) { return way(p, "read").bytes; });
	var unique = d3.sum(pairs, function (p) { return way(p, "read").unique; });
	return all ? (all - unique) / all : 0;
}

function taskLink(id) { return taskOf[id] ? "#task-" + id : null; }
function fileLink(id) { return fileOf[id] && fileOf[id].spans ? "#file-" + id : null; }

function taskTable() {
	var waited = report.tasks.some(function (t) { return t.waited_ns; });
	return table("task-table", [
		{title: "Task", text: true, value: function (t) { return t.name; },
			link: function (t) { return taskLink(t.id); }},
		number("Ran", function (t) { return t.run_us; }, function (us) { return duration(us * 1000); }),
		number("In calls", function (t) { return t.time_ns; }, duration),
		number("Read", function (t) { return way(t, "read").bytes; }, bytes),
		number("of it again", function (t) { return again(t.pairs); }, percent,
			{bad: function (t) { return again(t.pairs) > .5; }}),
		number("Written", function (t) { return way(t, "written").bytes; }, bytes),
		number("Calls", function (t) { return d3.sum(d3.values(t.types), function (c) { return c.calls; }); }, count),
		number("Failed", function (t) { return d3.sum(d3.values(t.types), function (c) { return c.failed; }); }, count),
		number("Files", function (t) { return t.files; }, count)
	].concat(waited ? [number("Waited", function (t) { return t.waited_ns; }, duration)] : []),
	report.tasks, 2);
}

function accessColumns(named, filed) {
	var columns = [];
	if (named)
		columns.push({title: "Task", text: true, value: function (a) { return taskName(a.pair.task); },
			link: function (a) { return taskLink(a.pair.task); }});
	columns.push({title: "", value: function (a) { return a.name; },
		show: function (a) { return a.name === "read" ? "reads" : a.name === "written" ? "writes" : "maps"; }});
	if (filed)
		columns.push({title: "File", text: true, value: function (a) { return fileName(a.pair.file); },
			link: function (a) { return fileLink(a.pair.file); }});
	return columns.concat([
		number("Bytes", function (a) { return a.way.bytes; }, bytes),
		number("Different", function (a) { return a.way.unique; }, bytes, {help: "each place counted once"}),
		{title: "Times", value: function (a) { return a.way.unique ? a.way.bytes / a.way.unique : 0; },
			show: function (a) { return times(a.pair, a.name); }, help: "bytes by different bytes",
			bad: function (a) { return a.way.unique && a.way.bytes >= 2 * a.way.unique; }},
		number("Calls", function (a) { return a.way.calls; }, count),
		{title: "Each", value: function (a) { return a.way.calls ? a.way.bytes / a.way.calls : 0; },
			show: function (a) { return a.way.calls ? bytes(a.way.bytes / a.way.calls) : ""; },
			bad: function (a) { return a.way.calls >= 1000 && a.way.bytes / a.way.calls < 4096; }},
		{title: "In order", value: function (a) { return inOrder(a.way); },
			show: function (a) { return inOrder(a.way) === null ? "" : percent(inOrder(a.way)); }},
		number("Up", function (a) { return a.way.up; }, count, {help: "calls that begin behind where the last one ended"}),
		number("Down", function (a) { return a.way.down; }, count, {help: "calls that begin before where the last one ended"}),
		number("From", function (a) { return a.first; }, function (us) { return us === undefined ? "" : duration(us * 1000); }),
		number("To", function (a) { return a.last; }, function (us) { return us === undefined ? "" : duration(us * 1000); }),
		{title: "Span", value: function (a) { return a.pair.bulkiness; }, help: "first to last access, of the task's run",
			show: function (a) { return a.pair.bulkiness === undefined ? "" : percent(a.pair.bulkiness / 100); }},
		number("In calls", function (a) { return a.way.time_ns; }, duration)
	]);
}

function accesses(pairs) {
	var list = [];
	pairs.forEach(function (p) {
		WAYS.forEach(function (name) {
			if (p[name])
				list.push({pair: p, name: name, way: p[name], first: p[name].first_us, last: p[name].last_us});
		});
		if (p.mapped_bytes && !p.read && !p.written)
			list.push({pair: p, name: "mapped", way: NOTHING, first: p.first_us, last: p.last_us});
	});
	return list;
}

function filesTable() {
	function tasksWith(f, name) {
		return f.pairs.filter(function (p) { return way(p, name).bytes; }).length;
	}
	return table("files-table", [
		{title: "File", text: true, value: function (f) { return f.path; },
			link: function (f) { return fileLink(f.id); },
			show: function (f) {
				return f.path + (f.removed ? " (removed)" : f.replaced ? " (replaced)" :
					f.folded ? " (several files)" : "") +
					(f.inside ? " (in a container " + f.inside + ")" : "");
			}},
		number("Written", function (f) { return f.written; }, bytes),
		number("by", function (f) { return tasksWith(f, "written"); }, count, {help: "tasks"}),
		number("Read", function (f) { return f.read; }, bytes),
		number("by", function (f) { return tasksWith(f, "read"); }, count, {help: "tasks"}),
		number("In calls", function (f) { return f.time_ns; }, duration)
	], report.files, report.files.some(function (f) { return f.read; }) ? 3 : 1);
}

function waitsTable() {
	byId("waits").hidden = !report.waits.length;
	table("waits-table", [
		{title: "Step", text: true, value: function (w) { return w.step; },
			link: function (w) { return taskLink(w.task); }},
		{title: "Waited for", text: true, value: function (w) { return w.name; }},
		number("Times", function (w) { return w.times; }, count),
		number("In all", function (w) { return w.waited_ns; }, duration),
		number("Longest", function (w) { return w.longest_ns; }, duration)
	], report.waits, 3);
}

function callsTable() {
	var rows = Object.keys(report.types).map(function (name) { return {name: name, c: report.types[name]}; });
	table("calls-table", [
		{title: "Call", text: true, value: function (r) { return r.name; }},
		number("Calls", function (r) { return r.c.calls; }, count),
		number("Failed", function (r) { return r.c.failed; }, count),
		number("Time", function (r) { return r.c.time_ns; }, duration),
		number("On average", function (r) { return r.c.time_ns / r.c.calls; }, duration)
	], rows, 3);
}
