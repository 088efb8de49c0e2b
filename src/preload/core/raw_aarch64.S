/* The real system call; see raw_x86_64.S. */
	.text
	.globl	leat_raw
	.hidden	leat_raw
	.type	leat_raw, %function
	.balign	16
leat_raw:
	.cfi_startproc
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	mov	x4, x5
	mov	x5, x6
	svc	#0
	ret
	.cfi_endproc
	.size	leat_raw, .-leat_raw

	.section .note.GNU-stack, "", %progbits
