/* The way from a patched site of libc into the hooks and back.
 *
 * A stub (stub_x86_64.c) comes here by a jump with the registers of a system call: rax the number,
 * rdi rsi rdx r10 r8 r9 the arguments, and r11 = where to go on. Like a system call, only rax, rcx
 * and r11 change. Vector registers are not saved: everything in this library is compiled without
 * them. The caller may be a leaf function, so its red zone is stepped over.
 *
 * The unwind tables make this look like a function called by libc at r11: backtraces and thread
 * cancellation pass through. */
#define RED_ZONE 128

	.macro	save_registers
	.cfi_startproc simple
	.cfi_def_cfa rsp, 0
	.cfi_register rip, r11
	lea	-RED_ZONE(%rsp), %rsp
	.cfi_def_cfa_offset RED_ZONE
	push	%r11
	.cfi_def_cfa_offset RED_ZONE + 8
	.cfi_offset rip, -(RED_ZONE + 8)
	push	%rbp
	.cfi_def_cfa_offset RED_ZONE + 16
	.cfi_offset rbp, -(RED_ZONE + 16)
	mov	%rsp, %rbp
	.cfi_def_cfa rbp, RED_ZONE + 16
	push	%rdi
	push	%rsi
	push	%rdx
	push	%r10
	push	%r8
	push	%r9
	and	$-16, %rsp
	.endm

	.macro	restore_registers
	mov	-8(%rbp), %rdi
	mov	-16(%rbp), %rsi
	mov	-24(%rbp), %rdx
	mov	-32(%rbp), %r10
	mov	-40(%rbp), %r8
	mov	-48(%rbp), %r9
	mov	%rbp, %rsp
	.cfi_def_cfa rsp, RED_ZONE + 16
	pop	%rbp
	.cfi_def_cfa_offset RED_ZONE + 8
	.cfi_restore rbp
	pop	%r11
	.cfi_def_cfa_offset RED_ZONE
	.cfi_register rip, r11
	lea	RED_ZONE(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp	*%r11
	.cfi_endproc
	.endm

	.text
	.globl	leat_enter
	.hidden	leat_enter
	.type	leat_enter, @function
	.balign	16
leat_enter:
	save_registers
	push	%r9			/* f, the seventh parameter; pushed twice for alignment */
	push	%r9
	mov	%r8, %r9
	mov	%r10, %r8
	mov	%rdx, %rcx
	mov	%rsi, %rdx
	mov	%rdi, %rsi
	mov	%rax, %rdi
	call	leat_hook
	restore_registers
	.size	leat_enter, .-leat_enter

	/* A fork child: the hooks first, then libc with 0. */
	.globl	leat_enter_forked
	.hidden	leat_enter_forked
	.type	leat_enter_forked, @function
	.balign	16
leat_enter_forked:
	save_registers
	call	leat_engine_forked
	xor	%eax, %eax
	restore_registers
	.size	leat_enter_forked, .-leat_enter_forked

	/* Room for the stubs, filled by leat_patch_libc. In this library's own text, because that
	 * is mapped near libc, and so that tools can name the addresses. */
	.section .leat_stubs, "ax", @progbits
	.globl	leat_stub_area
	.hidden	leat_stub_area
	.type	leat_stub_area, @object
	.balign	4096
leat_stub_area:
	.fill	16384, 1, 0xcc
	.size	leat_stub_area, .-leat_stub_area

	.section .note.GNU-stack, "", @progbits
