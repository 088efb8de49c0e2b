/* The real system call. A function of its own and not inline, so that a thread cancelled or
 * sampled inside one is unwound through ordinary frames. */
	.text
	.globl	leat_raw
	.hidden	leat_raw
	.type	leat_raw, @function
	.balign	16
leat_raw:
	.cfi_startproc
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	%rcx, %rdx
	mov	%r8, %r10
	mov	%r9, %r8
	mov	8(%rsp), %r9
	syscall
	ret
	.cfi_endproc
	.size	leat_raw, .-leat_raw

	.section .note.GNU-stack, "", @progbits
