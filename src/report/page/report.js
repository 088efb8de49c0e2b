/* The page: what is said at its top, the details of a task, and what is redrawn when. */

function start() {
	var facts = [], trouble = byId("trouble");
	report.sources.slice(0, 3).forEach(function (s) {
		facts.push([s.host || "unknown machine", s.tracer ? "traced by " + s.tracer : "", s.command || ""]
			.filter(Boolean).join(": "));
	});
	if (report.sources.length > 3)
		facts.push("and " + (report.sources.length - 3) + " more machines");
	if (report.began)
		facts.push("began " + report.began.replace("T", " ").replace("Z", " UTC"));
	d3.select("#facts").text(facts.join(" \u00b7 "));
	if (report.sources[0] && report.sources[0].command)
		document.title = "I/O of " + shortened(report.sources[0].command, 60);
	if (report.gaps.length) {
		trouble.hidden = false;
		d3.select(trouble).append("b").text("This report is incomplete");
		d3.select(trouble).append("ul").selectAll("li").data(report.gaps).enter().append("li")
			.text(function (g) { return g; });
	}
	d3.select("#version").text(report.leat);
	cards();
	hints(5);
}

function cards() {
	var read = way(report, "read"), written = way(report, "written"), all = reread(report.edges);
	var time = d3.sum(d3.values(report.types), function (c) { return c.time_ns; });
	var list = [["", duration(report.length_us * 1000), "from first to last"],
		["read", bytes(read.bytes), "read in " + count(read.calls) + " calls"],
		["written", bytes(written.bytes), "written in " + count(written.calls) + " calls"],
		["", percent(all), "of the bytes read are re-reads"],
		["", duration(time), "in calls, all processes"],
		["", count(report.tasks.length + report.left_out.tasks), report.workflow ? "tasks" : "programs"],
		["", count(report.files.length + report.left_out.files), "files"]];
	if (report.workflow && report.calls)
		list.push(["", percent(report.attributed_calls / report.calls), "of the calls are attributed to tasks"]);
	var card = d3.select("#cards").selectAll("div").data(list).enter().append("div")
		.attr("class", function (d) { return "card " + d[0]; });
	card.append("b").text(function (d) { return d[1]; });
	card.append("span").text(function (d) { return d[2]; });
}

function hints(most) {
	var more = byId("hint-more");
	byId("hints").hidden = !report.hints.length;
	var li = d3.select("#hint-list").html("").selectAll("li").data(report.hints.slice(0, most)).enter().append("li");
	li.append("b").text(function (h) { return duration(h.cost_ns); });
	var body = li.append("div");
	body.append("p").text(function (h) { return h.text + "."; })
		.append("span").attr("class", "kind").text(function (h) { return h.kind; });
	body.append("div").attr("class", "go").each(function (h) {
		var go = d3.select(this);
		if (taskLink(h.task))
			go.append("a").attr("href", taskLink(h.task)).text("task");
		if (fileLink(h.file))
			go.append("a").attr("href", fileLink(h.file)).text("file");
	});
	more.hidden = report.hints.length <= most;
	more.textContent = "Show all " + report.hints.length;
	more.onclick = function () { hints(Infinity); };
}

function contents() {
	var sections = d3.selectAll("section[data-title]").filter(function () { return !this.hidden; });
	var list = sections[0].map(function (s) { return [s.id, s.getAttribute("data-title")]; });
	d3.select("#contents").html("").selectAll("li").data(list).enter().append("li").append("a")
		.attr("href", function (s) { return "#" + s[0]; }).text(function (s) { return s[1]; });
}

/* ---- one task ---- */

var task = null;

function chooseTask(id) {
	task = taskOf[id];
	byId("task").hidden = false;
	d3.select("#task-title").text("Task " + task.name);
	var facts = [task.logical !== task.name ? "of " + task.logical : "", task.workflow || "",
		"began at " + duration(task.begin_us * 1000), "ran for " + duration(task.run_us * 1000),
		duration(task.time_ns) + " in calls", task.waited_ns ? "waited " + duration(task.waited_ns) : "",
		task.evidence ? "evidence: " + task.evidence : "", count(task.files) + " files"];
	d3.select("#task-facts").text(facts.filter(Boolean).join(" \u00b7 "));
	drawTask();
	accessTable("task-files", accesses(task.edges), false, true, "bytes");
}

function drawTask() {
	if (!task)
		return;
	areas("task-time", WAYS.map(function (name) {
		return {name: name, colour: "--" + name, v: task.series[name]};
	}), 190, "Bytes in a second of " + task.name);
	sizeBars("task-sizes", task);
}

/* ---- all ---- */

function go() {
	var m = /^#(task|file)-(\d+)$/.exec(location.hash);
	if (!m)
		return;
	if (m[1] === "task" && taskOf[m[2]])
		chooseTask(m[2]);
	else if (m[1] === "file" && fileOf[m[2]] && fileOf[m[2]].spans)
		chooseFile(m[2]);
	else
		return;
	byId(m[1]).scrollIntoView();
}

function draw() {
	drawTime();
	drawTasks();
	drawTask();
	drawAccess();
	if (file)
		drawFile();
	drawGraph();
	sizeBars("sizes-chart", report);
}

start();
options("time-by", [["all", "reading and writing"], ["task", report.workflow ? "task" : "program"], ["node", "machine"],
	["system", "file system"]].filter(function (o) {
	return o[0] === "all" || (o[0] === "task" ? report.tasks : o[0] === "node" ? report.nodes : report.systems).length > 1;
}), function (o) { return o[0]; }, function (o) { return o[1]; });
d3.select("#time-by").on("change", function () {
	timeBy = this.value;
	drawTime();
});
choice("time-way", [{value: "both", text: "both"}, {value: "read", text: "read"}, {value: "written", text: "written"}],
	timeWay, function (value) {
		timeWay = value;
		drawTime();
	});
options("access-task", [{id: "", name: "all"}].concat(report.tasks), function (t) { return t.id; },
	function (t) { return shortened(t.name, 60); });
d3.select("#access-task").on("change", function () {
	accessTask = this.value;
	drawAccess();
});
var tables = [taskTable(), filesTable(), accessTable("edges-table", accesses(report.edges), true, true, "bytes")];
callsTable();
waitsTable();
[["files-find", 1], ["edges-find", 2]].forEach(function (f) {
	d3.select("#" + f[0]).on("input", function () { tables[f[1]].find(this.value); });
});
startFile();
draw();
contents();
go();
var resized = 0;
d3.select(window).on("hashchange", go).on("resize", function () {
	clearTimeout(resized);
	resized = setTimeout(draw, 100);
}).on("beforeprint", function () {
	byId("how").open = true;
	hints(Infinity);
	tables.forEach(function (t) { t.all(); });
	draw();
});
document.body.setAttribute("data-ready", "true");
