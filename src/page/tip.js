/* What is shown beside the pointer, or beside what has the keyboard. */
var tip = (function () {
"use strict";

var box = d3.select("#tip");

function hide() {
	box.attr("hidden", "");
}

/* Where the event that is handled happened, and inside the window. */
function place() {
	var e = d3.event, size, x = e.clientX, y = e.clientY;
	if (x === undefined) {
		var at = e.target.getBoundingClientRect();
		x = at.right;
		y = at.bottom;
	}
	size = box.node().getBoundingClientRect();
	box.style("left", Math.max(4, Math.min(x + 14, window.innerWidth - size.width - 8)) + "px");
	box.style("top", Math.max(4, y + 18 + size.height > window.innerHeight ?
		y - size.height - 10 : y + 18) + "px");
}

/* `title` may be null. */
function show(title, lines) {
	box.attr("hidden", null).text("");
	if (title !== null)
		box.append("b").text(title);
	lines.forEach(function (line) { box.append("div").text(line); });
	place();
}

/* Each thing of the selection shows lines(d) when it is pointed at, or has the keyboard. */
function on(selection, lines) {
	function tell(d) { show(null, lines(d)); }
	selection.on("mousemove", tell).on("mouseleave", hide).on("focus", tell).on("blur", hide);
}

d3.select(window).on("scroll.tip", hide);
return {show: show, hide: hide, on: on};
}());
