/* Space for an area of stubs where there is none beside the text. In this library's own
 * text, because that is mapped near libc, and so that tools can name the addresses. */
	.section .leat_stubs, "ax", @progbits
	.globl	leat_stub_area
	.hidden	leat_stub_area
	.type	leat_stub_area, @object
	.balign	4096
leat_stub_area:
	.fill	8 * 4096, 1, 0xcc
	.size	leat_stub_area, .-leat_stub_area

	.section .note.GNU-stack, "", @progbits
