/* What is told beside the pointer. */
var tip = (function () {
"use strict";

var box = d3.select("#tip");

function hide() {
	box.attr("hidden", "");
}

/* Where the event that is handled happened, and inside the window. */
function place() {
	var e = d3.event, size = box.node().getBoundingClientRect();
	var below = e.clientY + 18, above = e.clientY - size.height - 10;
	box.style("left", Math.max(4, Math.min(e.clientX + 14, window.innerWidth - size.width - 6)) + "px");
	box.style("top", (below + size.height > window.innerHeight ? above : below) + "px");
}

function say(title, lines) {
	box.attr("hidden", null).text("");
	box.append("b").text(title);
	lines.forEach(function (line) { box.append("div").text(line); });
	place();
}

d3.select(window).on("scroll.tip", hide);
return {say: say, hide: hide};
}());
