/* Numbers for people. */
var words = (function () {
"use strict";

function amount(n) {
	return n >= 99.95 ? n.toFixed(0) : n >= 9.995 ? n.toFixed(1) : n.toFixed(2);
}

function seconds(s) {
	if (s >= .0995 || s <= 0)
		return s >= 9.995 ? s.toFixed(1) + " s" : s.toFixed(2) + " s";
	return s >= 99.5e-6 ? amount(1e3 * s) + " ms" : amount(1e6 * s) + " µs";
}

function megabytes(n) {
	return amount(n / 1e6) + " MB";
}

return {amount: amount, seconds: seconds, megabytes: megabytes};
}());
