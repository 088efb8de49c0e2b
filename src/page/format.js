/* Numbers for people: what is the same on two pages is rounded the same. */
var format = (function () {
"use strict";

/* Three digits that count. */
function amount(n) {
	return n >= 99.95 ? n.toFixed(0) : n >= 9.995 ? n.toFixed(1) : n.toFixed(2);
}

/* As leat run's summary has it. */
function bytes(n) {
	var units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"], unit = 0;
	while (n >= 999.5 && unit < units.length - 1) {
		n /= 1000;
		unit++;
	}
	return n.toFixed(unit && n < 99.95 ? 1 : 0) + " " + units[unit];
}

/* The same; sizes that are round in powers of two. */
function binaryBytes(n) {
	var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], unit = 0;
	while (n >= 1024 && unit < units.length - 1) {
		n /= 1024;
		unit++;
	}
	return (n % 1 ? n.toFixed(n < 10 ? 1 : 0) : n) + " " + units[unit];
}

/* A time of a step, as leat run's summary has it. */
function seconds(s) {
	if (s < 9.995)
		return s.toFixed(2) + " s";
	if (s < 999.95)
		return s.toFixed(1) + " s";
	return Math.floor(s / 60) + " min " + ("0" + Math.floor(s % 60)).slice(-2) + " s";
}

/* A time that may be much shorter or longer. */
function duration(s) {
	if (!s)
		return "0 s";
	if (s < .000995)
		return (s * 1e6).toFixed(s < .00000995 ? 1 : 0) + " \u00b5s";
	if (s < .995)
		return (s * 1e3).toFixed(s < .00995 ? 1 : 0) + " ms";
	if (s < 6000)
		return seconds(s);
	return s < 360000 ? (s / 3600).toFixed(1) + " h" : (s / 86400).toFixed(0) + " d";
}

/* A moment of an axis whose ticks are `step` seconds apart. */
function moment(s, step) {
	var digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log(step) / Math.LN10 - 1e-9));
	if (s < 600)
		return s.toFixed(digits) + " s";
	var h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, rest = (s % 60).toFixed(digits);
	return (h ? h + ":" + ("0" + m).slice(-2) : m) + ":" + (rest < 10 ? "0" : "") + rest;
}

function count(n) { return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ","); }

function percent(part) {
	var p = 100 * part;
	if (p > 0 && p < .5)
		return "<1 %";
	return p < 100 && p >= 99.5 ? ">99 %" : Math.round(p) + " %";
}

/* Long names by their beginning, long paths by their end. */
function shortened(text, most) {
	return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "\u2026" : text;
}

function ending(text, most) {
	return text.length > most ? "\u2026" + text.slice(text.length - Math.max(1, most - 1)) : text;
}

return {amount: amount, bytes: bytes, binaryBytes: binaryBytes, seconds: seconds, duration: duration,
	moment: moment, count: count, percent: percent, shortened: shortened, ending: ending};
}());
