/* base/elf.h: programs as they are, and files that only look like some. */
#include "base/elf.h"
#include "base/elf_links.h"

#include <fcntl.h>
#include <linux/elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What a made-up program holds: a header and up to three segments, each with its content. */
struct made {
	const char *what;
	enum leat_elf_kind kind;
	struct {
		uint32_t type;
		const void *content;
		size_t size;
	} segment[3];
	size_t cut; /* bytes left of the file, 0 = all */
	uint8_t word_size;
	uint16_t machine;
};

#if defined(__aarch64__)
#define OWN EM_AARCH64
#else
#define OWN EM_X86_64
#endif

static const char loader[] = "/lib64/ld-linux-x86-64.so.2", musl[] = "/lib/ld-musl-x86_64.so.1";
static const struct {
	Elf64_Nhdr head;
	char name[4];
	char id[8];
} go_note = {{4, 8, 4}, "Go\0", "buildid"}, gnu_note = {{4, 8, 3}, "GNU", "buildid"};
static const struct {
	Elf64_Nhdr head;
	char name[4];
} huge_note = {{4, 0xfffffff0, 7}, "abc"};
static const Elf64_Dyn library[] = {{.d_tag = DT_NEEDED}, {.d_tag = DT_SONAME}, {.d_tag = DT_NULL}};
static const Elf64_Dyn static_pie[] = {{.d_tag = DT_NULL}, {.d_tag = DT_SONAME}};

#define CONTENT(object) &(object), sizeof(object)

static const struct made table[] = {
	{"dynamic",
	 LEAT_ELF_DYNAMIC,
	 {{PT_INTERP, CONTENT(loader)}, {PT_NOTE, CONTENT(gnu_note)}},
	 0,
	 2,
	 OWN},
	{"another C library", LEAT_ELF_OTHER, {{PT_INTERP, CONTENT(musl)}}, 0, 2, OWN},
	{"static", LEAT_ELF_STATIC, {{PT_LOAD, CONTENT(loader)}}, 0, 2, OWN},
	{"static-pie", LEAT_ELF_STATIC, {{PT_DYNAMIC, CONTENT(static_pie)}}, 0, 2, OWN},
	{"no segments", LEAT_ELF_STATIC, {{0, NULL, 0}}, 0, 2, OWN},
	{"loader", LEAT_ELF_LOADER, {{PT_DYNAMIC, CONTENT(library)}}, 0, 2, OWN},
	{"Go, static", LEAT_ELF_GO, {{PT_NOTE, CONTENT(go_note)}}, 0, 2, OWN},
	{"Go, dynamic",
	 LEAT_ELF_GO,
	 {{PT_INTERP, CONTENT(loader)}, {PT_NOTE, CONTENT(go_note)}},
	 0,
	 2,
	 OWN},
	{"note beyond its segment",
	 LEAT_ELF_DYNAMIC,
	 {{PT_INTERP, CONTENT(loader)}, {PT_NOTE, CONTENT(huge_note)}},
	 0,
	 2,
	 OWN},
	{"32 bits", LEAT_ELF_FOREIGN, {{PT_INTERP, CONTENT(loader)}}, 0, 1, OWN},
	{"another machine", LEAT_ELF_FOREIGN, {{PT_INTERP, CONTENT(loader)}}, 0, 2, EM_SPARC},
	{"cut in the header", LEAT_ELF_NONE, {{PT_INTERP, CONTENT(loader)}}, 40, 2, OWN},
	{"cut in the segments", LEAT_ELF_NONE, {{PT_INTERP, CONTENT(loader)}}, 80, 2, OWN},
	{"empty", LEAT_ELF_NONE, {{PT_INTERP, CONTENT(loader)}}, 1, 2, OWN},
};

/* The made-up program in a file that is gone when `fd` is closed. */
static int make(const struct made *m)
{
	char name[] = "/tmp/leat-elf.XXXXXX", file[2048] = {0};
	Elf64_Ehdr eh = {
		.e_machine = m->machine, .e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr)};
	size_t at = sizeof(eh) + COUNT(m->segment) * sizeof(Elf64_Phdr);
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = m->word_size;
	for (; eh.e_phnum < COUNT(m->segment) && m->segment[eh.e_phnum].type; eh.e_phnum++) {
		Elf64_Phdr ph = {.p_type = m->segment[eh.e_phnum].type,
				 .p_offset = at,
				 .p_filesz = m->segment[eh.e_phnum].size};

		memcpy(file + sizeof(eh) + eh.e_phnum * sizeof(ph), &ph, sizeof(ph));
		memcpy(file + at, m->segment[eh.e_phnum].content, ph.p_filesz);
		at += ph.p_filesz;
	}
	memcpy(file, &eh, sizeof(eh));
	at = m->cut ? m->cut : at;
	assert_int_equal(write(fd, file, at), at);
	return fd;
}

static void test_made_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		int fd = make(&table[i]);
		enum leat_elf_kind kind = leat_elf_inspect(fd, pread);

		if (kind != table[i].kind)
			fail_msg("%s: %d, not %d", table[i].what, kind, table[i].kind);
		close(fd);
	}
}

static void test_real(void **state)
{
	int shell = open("/bin/sh", O_RDONLY), text = open("/etc/passwd", O_RDONLY);

	(void)state;
	assert_int_equal(leat_elf_inspect(shell, pread), LEAT_ELF_DYNAMIC);
	assert_int_equal(leat_elf_inspect(text, pread), LEAT_ELF_NONE);
	assert_int_equal(leat_elf_inspect(-1, pread), LEAT_ELF_NONE);
	close(shell);
	close(text);
}

static void test_obstacles(void **state)
{
	(void)state;
	assert_null(leat_elf_obstacle(LEAT_ELF_DYNAMIC));
	assert_null(leat_elf_obstacle(LEAT_ELF_LOADER));
	assert_null(leat_elf_obstacle(LEAT_ELF_NONE));
	assert_string_equal(leat_elf_obstacle(LEAT_ELF_STATIC), "statically linked");
	assert_non_null(leat_elf_obstacle(LEAT_ELF_OTHER));
	assert_non_null(leat_elf_obstacle(LEAT_ELF_GO));
	assert_non_null(leat_elf_obstacle(LEAT_ELF_FOREIGN));
}

/* A program whose strings are at another address than in the file. */
static int make_linked(const Elf64_Dyn *dynamic, size_t size, const char *strings, size_t n_strings)
{
	char name[] = "/tmp/leat-elf.XXXXXX";
	Elf64_Ehdr eh = {.e_machine = OWN,
			 .e_phoff = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 2};
	const size_t at = sizeof(eh) + 2 * sizeof(Elf64_Phdr);
	const Elf64_Phdr ph[2] = {{.p_type = PT_DYNAMIC, .p_offset = at, .p_filesz = size},
				  {.p_type = PT_LOAD,
				   .p_vaddr = 0x10000,
				   .p_offset = at + size,
				   .p_filesz = n_strings}};
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = 2;
	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	assert_int_equal(write(fd, ph, sizeof(ph)), sizeof(ph));
	assert_int_equal(write(fd, dynamic, size), size);
	assert_int_equal(write(fd, strings, n_strings), n_strings);
	return fd;
}

#define ENTRY(tag, value)                                                                          \
	{                                                                                          \
		.d_tag = (tag), .d_un.d_val = (value)                                              \
	}
#define RUNPATH 29
static const char strings[] = "\0liba.so\0./b/libb.so\0$ORIGIN:/x\0/y";

static void test_links(void **state)
{
	const Elf64_Dyn dynamic[] = {ENTRY(DT_NEEDED, 1),       ENTRY(DT_NEEDED, 9),
				     ENTRY(RUNPATH, 21),        ENTRY(DT_RPATH, 32),
				     ENTRY(DT_STRTAB, 0x10000), ENTRY(DT_STRSZ, sizeof(strings)),
				     ENTRY(DT_NULL, 0),         ENTRY(DT_NEEDED, 3)};
	int fd = make_linked(dynamic, sizeof(dynamic), strings, sizeof(strings));
	struct leat_elf_links links;
	char text[64];

	(void)state;
	assert_true(leat_elf_links_read(fd, pread, &links));
	assert_int_equal(links.n_needed, 2);
	assert_true(leat_elf_links_text(fd, pread, &links, links.needed[0], text, sizeof(text)));
	assert_string_equal(text, "liba.so");
	assert_true(leat_elf_links_text(fd, pread, &links, links.needed[1], text, sizeof(text)));
	assert_string_equal(text, "./b/libb.so");
	assert_true(leat_elf_links_text(fd, pread, &links, links.runpath, text, sizeof(text)));
	assert_string_equal(text, "$ORIGIN:/x");
	assert_true(leat_elf_links_text(fd, pread, &links, links.rpath, text, sizeof(text)));
	assert_string_equal(text, "/y");
	assert_false(leat_elf_links_text(fd, pread, &links, links.needed[0], text, 7));
	assert_false(leat_elf_links_text(fd, pread, &links, sizeof(strings), text, sizeof(text)));
	close(fd);
}

/* Strings that are nowhere, that have no end, and no dynamic section at all. */
static void test_no_links(void **state)
{
	const Elf64_Dyn nowhere[] = {ENTRY(DT_STRTAB, 0x20000), ENTRY(DT_NULL, 0)};
	const Elf64_Dyn cut[] = {ENTRY(DT_STRTAB, 0x10000), ENTRY(DT_STRSZ, 100),
				 ENTRY(DT_NULL, 0)};
	int fd = make_linked(nowhere, sizeof(nowhere), "", 1);
	struct leat_elf_links links;
	char text[8];

	(void)state;
	assert_false(leat_elf_links_read(fd, pread, &links));
	close(fd);
	fd = make_linked(cut, sizeof(cut), "abc", 3);
	assert_true(leat_elf_links_read(fd, pread, &links));
	assert_false(leat_elf_links_text(fd, pread, &links, 1, text, sizeof(text)));
	close(fd);
	for (size_t i = 0; i < COUNT(table); i++) {
		fd = make(&table[i]);
		assert_false(leat_elf_links_read(fd, pread, &links));
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_up),   cmocka_unit_test(test_real),
		cmocka_unit_test(test_obstacles), cmocka_unit_test(test_links),
		cmocka_unit_test(test_no_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
