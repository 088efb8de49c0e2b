/* What an image's text means, and the command line of each engine. */
#include "driver/engine.h"

#include "base/str.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[] = "/tmp/leat-test-container.XXXXXX";

static void make(const char *path)
{
	char *whole = leat_strf("%s/%s", root, path);

	for (char *at = whole + sizeof(root); (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		(void)mkdir(whole, 0755);
	}
	assert_true(mkdir(whole, 0755) == 0 || errno == EEXIST);
	free(whole);
}

static void make_link(const char *path, const char *target)
{
	char *whole = leat_strf("%s/%s", root, path);

	assert_int_equal(symlink(target, whole), 0);
	free(whole);
}

/* The words, a blank between them, the test's directory as "@"; the caller frees it. */
static char *joined(char *const *words)
{
	char *text = strdup("");

	for (; words && *words; words++) {
		char *longer = leat_strf("%s%s%s", text, *text ? " " : "", *words), *at;

		free(text);
		text = longer;
		while ((at = strstr(text, root))) {
			*at = '@';
			memmove(at + 1, at + strlen(root), strlen(at + strlen(root)) + 1);
		}
	}
	return text;
}

/* ---- images ---- */

static void reads_images(void **state)
{
	static const struct {
		const char *text;
		int rc;
		enum leat_image_kind kind;
		const char *name, *tag;
	} cases[] = {
		{"debian", 0, LEAT_IMAGE_REFERENCE, "debian", NULL},
		{"quay.io/x/samtools:1.17--h0", 0, LEAT_IMAGE_REFERENCE,
		 "quay.io/x/samtools:1.17--h0", NULL},
		{"docker://debian:12", 0, LEAT_IMAGE_REFERENCE, "debian:12", NULL},
		{"docker://odd.sif", 0, LEAT_IMAGE_REFERENCE, "odd.sif", NULL},
		{"a.sif", 0, LEAT_IMAGE_SIF, "@/a.sif", NULL},
		{"/x/a.sif", 0, LEAT_IMAGE_SIF, "/x/a.sif", NULL},
		{".sif", -EINVAL, 0, NULL, NULL},
		{"oci:a/b", 0, LEAT_IMAGE_OCI, "@/a/b", NULL},
		{"oci:a/b:1.2", 0, LEAT_IMAGE_OCI, "@/a/b", "1.2"},
		{"oci:/a:b/c", 0, LEAT_IMAGE_OCI, "/a:b/c", NULL},
		{"oci:/a:b/c:d", 0, LEAT_IMAGE_OCI, "/a:b/c", "d"},
		{"oci:", 0, LEAT_IMAGE_REFERENCE, "oci:", NULL},
		{"./absent", 0, LEAT_IMAGE_DIRECTORY, "@/./absent", NULL},
		{"../absent", 0, LEAT_IMAGE_DIRECTORY, "@/../absent", NULL},
		{"/absent", 0, LEAT_IMAGE_DIRECTORY, "/absent", NULL},
		{".", 0, LEAT_IMAGE_DIRECTORY, "@/.", NULL},
		{"there", 0, LEAT_IMAGE_DIRECTORY, "@/there", NULL},
		{"there/deeper", 0, LEAT_IMAGE_DIRECTORY, "@/there/deeper", NULL},
		{"there/absent", 0, LEAT_IMAGE_REFERENCE, "there/absent", NULL},
		{"-it", -EINVAL, 0, NULL, NULL},
		{"docker://-it", -EINVAL, 0, NULL, NULL},
		{"docker://", -EINVAL, 0, NULL, NULL},
		{"library://x", -EINVAL, 0, NULL, NULL},
		{"a b", -EINVAL, 0, NULL, NULL},
	};

	(void)state;
	make("there/deeper");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_image image;
		const char *why;
		char *name;

		if (leat_image_init(&image, root, cases[i].text, &why) != cases[i].rc)
			fail_msg("%s", cases[i].text);
		assert_true((why != NULL) == (cases[i].rc != 0));
		if (cases[i].rc)
			continue;
		name = joined((char *const[]){image.name, NULL});
		if (image.kind != cases[i].kind || strcmp(name, cases[i].name) != 0)
			fail_msg("%s: %s, %s", cases[i].text, leat_image_kind_text(image.kind),
				 name);
		assert_string_equal(image.tag ? image.tag : "", cases[i].tag ? cases[i].tag : "");
		free(name);
		leat_image_release(&image);
	}
}

static void knows_engines(void **state)
{
	/* Directory, SIF, OCI layout, reference. */
	static const char *const takes[LEAT_N_ENGINES] = {
		[LEAT_ENGINE_AUTO] = "1111",         [LEAT_ENGINE_BUBBLEWRAP] = "1000",
		[LEAT_ENGINE_CHARLIECLOUD] = "1000", [LEAT_ENGINE_PODMAN] = "1011",
		[LEAT_ENGINE_APPTAINER] = "1111",
	};
	enum leat_engine found;

	(void)state;
	for (int e = 0; e < LEAT_N_ENGINES; e++) {
		assert_true(leat_engine_find(leat_engine_name((enum leat_engine)e), &found));
		assert_int_equal(found, e);
		assert_int_equal(leat_engine_program((enum leat_engine)e) == NULL,
				 e == LEAT_ENGINE_AUTO);
		for (int k = 0; k < LEAT_N_IMAGE_KINDS; k++)
			assert_int_equal(
				leat_engine_takes((enum leat_engine)e, (enum leat_image_kind)k),
				takes[e][k] == '1');
	}
	assert_false(leat_engine_find("docker", &found));
}

static void chooses_variables(void **state)
{
	static const char *const in[] = {"LANG=C",
					 "LC_ALL=C",
					 "LC_=",
					 "TZ=UTC",
					 "OMP_NUM_THREADS=2",
					 "MKL_NUM_THREADS=2",
					 "LEAT_TASK=a",
					 "LEAT_INSTANCE=1",
					 "LEAT_INSTANCES=2",
					 "SOURCE_DATE_EPOCH=0"};
	static const char *const out[] = {"PATH=/",
					  "HOME=/x",
					  "LD_PRELOAD=x",
					  "LEAT_DIR=/",
					  "LEAT_KEY=1",
					  "LANGX=1",
					  "TZX=",
					  "LEAT_TASKS=",
					  "AWS_SECRET=1",
					  "DISPLAY=:0",
					  "LD_LIBRARY_PATH=/x",
					  ""};

	(void)state;
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		if (!leat_engine_passes(in[i]))
			fail_msg("kept out: %s", in[i]);
	for (size_t i = 0; i < sizeof(out) / sizeof(*out); i++)
		if (leat_engine_passes(out[i]))
			fail_msg("let in: %s", out[i]);
}

/* ---- command lines ---- */

#define PLAIN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define PODMAN                                                                                     \
	"podman run --rm --log-driver=none --network=host --pid=host --shm-size=0 "                \
	"--security-opt=label=disable --read-only --read-only-tmpfs=false "                        \
	"--tmpfs=/tmp:rw,exec,mode=1777 --entrypoint= "
#define BWRAP_MOUNTS "--dev /dev --proc /proc --ro-bind /sys /sys --perms 1777 --tmpfs /tmp "
#define BWRAP_ENV                                                                                  \
	"--die-with-parent --clearenv --setenv PATH " PLAIN_PATH " --setenv HOME /tmp "            \
	"--setenv LANG C --setenv OMP_PLACES {0,1} --setenv A b=c,\" -- prog -v x y"
#define CHARLIE_ENV                                                                                \
	"--env-no-expand --unset-env=* --set-env=PATH=" PLAIN_PATH " --set-env=HOME=/tmp "         \
	"--set-env=LANG=C --set-env=OMP_PLACES={0,1} --set-env=A=b=c,\" "
#define APPTAINER_ROOT "apptainer exec --contain --cleanenv --no-eval "
#define APPTAINER_ENV                                                                              \
	"--bind=/wf:/wf --pwd=/wf/i.0 --env=LANG=C --env=OMP_PLACES={0,1} "                        \
	"--env=\"A=b=c,\"\"\" "
#define APPTAINER APPTAINER_ROOT "--userns " APPTAINER_ENV

static char *const variables[] = {(char[]){"LANG=C"}, (char[]){"OMP_PLACES={0,1}"},
				  (char[]){"A=b=c,\""}, NULL};
static char *const command[] = {(char[]){"prog"}, (char[]){"-v"}, (char[]){"x y"}, NULL};

static void check(enum leat_engine engine, const char *image_text, const char *bound, uid_t uid,
		  const char *expected)
{
	char *dir = leat_strf("%s/i.0", bound), *text;
	struct leat_image image;
	const char *why;
	struct leat_argv argv;
	int rc;

	assert_int_equal(leat_image_init(&image, root, image_text, &why), 0);
	const struct leat_engine_facts facts = {.engine = engine,
						.image = &image,
						.bound = bound,
						.dir = dir,
						.uid = uid,
						.gid = uid + 1,
						.umask = 027,
						.variables = variables,
						.command = command};
	rc = leat_engine_argv(&facts, &argv, &why);
	text = rc ? strdup(why ? why : strerror(-rc)) : joined(argv.v);
	assert_string_equal(text, expected);
	assert_int_equal(rc ? argv.n : 0, 0);
	leat_argv_release(&argv);
	leat_image_release(&image);
	free(text);
	free(dir);
}

/* An image with all places, and the workflow's directory /wf. */
static void make_whole(void)
{
	static const char *const places[] = {"whole/dev", "whole/proc", "whole/sys", "whole/tmp",
					     "whole/wf"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		make(places[i]);
}

static void writes_command_lines(void **state)
{
	(void)state;
	make_whole();
	check(LEAT_ENGINE_BUBBLEWRAP, "whole", "/wf", 1000,
	      "bwrap --ro-bind @/whole / " BWRAP_MOUNTS
	      "--bind /wf /wf --chdir /wf/i.0 " BWRAP_ENV);
	check(LEAT_ENGINE_BUBBLEWRAP, "whole", "/tmp/a:b,c", 0,
	      "bwrap --ro-bind @/whole / " BWRAP_MOUNTS
	      "--bind /tmp/a:b,c /tmp/a:b,c --chdir /tmp/a:b,c/i.0 " BWRAP_ENV);
	check(LEAT_ENGINE_CHARLIECLOUD, "whole", "/wf", 1000,
	      "ch-run --private-tmp --bind=/wf:/wf --cd=/wf/i.0 " CHARLIE_ENV
	      "@/whole -- prog -v x y");
	check(LEAT_ENGINE_PODMAN, "whole", "/wf", 1000,
	      PODMAN "--userns=keep-id --user=1000:1001 --umask=0027 --volume=/wf:/wf "
		     "--workdir=/wf/i.0 --env=HOME=/tmp --env=LANG=C --env=OMP_PLACES={0,1} "
		     "--env=A=b=c,\" --rootfs @/whole:O prog -v x y");
	check(LEAT_ENGINE_PODMAN, "debian:12", "/wf", 0,
	      PODMAN "--pull=never --user=0:1 --umask=0027 --volume=/wf:/wf --workdir=/wf/i.0 "
		     "--env=HOME=/tmp --env=LANG=C --env=OMP_PLACES={0,1} --env=A=b=c,\" "
		     "debian:12 prog -v x y");
	check(LEAT_ENGINE_PODMAN, "oci:/l:t", "/wf", 0,
	      PODMAN "--user=0:1 --umask=0027 --volume=/wf:/wf --workdir=/wf/i.0 "
		     "--env=HOME=/tmp --env=LANG=C --env=OMP_PLACES={0,1} --env=A=b=c,\" "
		     "oci:/l:t prog -v x y");
	check(LEAT_ENGINE_APPTAINER, "whole", "/wf", 1000, APPTAINER "@/whole prog -v x y");
	check(LEAT_ENGINE_APPTAINER, "whole", "/wf", 0,
	      APPTAINER_ROOT APPTAINER_ENV "@/whole prog -v x y");
	check(LEAT_ENGINE_APPTAINER, "a.sif", "/wf", 1000, APPTAINER "@/a.sif prog -v x y");
	check(LEAT_ENGINE_APPTAINER, "oci:/l", "/wf", 1000, APPTAINER "oci:/l prog -v x y");
	check(LEAT_ENGINE_APPTAINER, "oci:/l:t", "/wf", 1000, APPTAINER "oci:/l:t prog -v x y");
	check(LEAT_ENGINE_APPTAINER, "debian:12", "/wf", 1000,
	      APPTAINER "docker://debian:12 prog -v x y");
}

static void says_what_cannot_be(void **state)
{
	static const char takes_not[] = "takes no such image",
			  apart[] =
				  "cannot be given the workflow's directory, which has a \":\" or "
				  "\",\" in its path",
			  no_place[] = "has no place for the workflow's directory: make an empty "
				       "one of the same path in the image";

	(void)state;
	make_whole();
	make("co:lon");
	check(LEAT_ENGINE_BUBBLEWRAP, "a.sif", "/wf", 0, takes_not);
	check(LEAT_ENGINE_CHARLIECLOUD, "debian", "/wf", 0, takes_not);
	check(LEAT_ENGINE_PODMAN, "a.sif", "/wf", 0, takes_not);
	check(LEAT_ENGINE_CHARLIECLOUD, "whole", "/w:f", 0, apart);
	check(LEAT_ENGINE_PODMAN, "whole", "/w:f", 0, apart);
	check(LEAT_ENGINE_PODMAN, "whole", "/w,f", 0, apart);
	check(LEAT_ENGINE_APPTAINER, "whole", "/w,f", 0, apart);
	check(LEAT_ENGINE_PODMAN, "co:lon", "/wf", 0,
	      "cannot be given the image, which has a \":\" in its path");
	check(LEAT_ENGINE_PODMAN, "oci:/A", "/wf", 0,
	      "cannot be given the layout, whose path has to be of small letters, digits and "
	      "\"._-/\"");
	check(LEAT_ENGINE_CHARLIECLOUD, "whole", "/elsewhere", 0, no_place);
	check(LEAT_ENGINE_BUBBLEWRAP, "./absent", "/wf", 0, strerror(ENOENT));
}

/* ---- the root of bubblewrap ---- */

static void check_root(const char *image, const char *const *places, const char *expected)
{
	char *path = leat_strf("%s/%s", root, image), *before, *behind, *text;
	struct leat_argv argv = {.n = 0}, after = {.n = 0};

	assert_int_equal(leat_engine_root(path, places, &argv, &after), 0);
	before = joined(argv.v);
	behind = joined(after.v);
	text = leat_strf("%s%s%s", before, *behind ? " ... " : "", behind);
	assert_string_equal(text, expected);
	free(text);
	free(behind);
	free(before);
	free(path);
	leat_argv_release(&argv);
	leat_argv_release(&after);
}

static void makes_places(void **state)
{
	static const char *const one[] = {"/proc", NULL};
	static const char *const deep[] = {"/proc", "/home/u/wf", NULL};
	static const char *const both[] = {"/sys", "/home/u/wf", NULL};
	static const char *const deeper[] = {"/sys", "/home/z/wf", NULL};
	static const char *const linked[] = {"/proc", "/bin/wf", NULL};
	static const char *const inside[] = {"/home/z/wf", NULL};
	static const char *const many[] = {"/proc/a", "/proc/b", "/proc/c", "/proc/d", "/proc/e",
					   "/proc/f", "/proc/g", "/proc/h", "/proc/i", "/proc/j",
					   "/proc/k", "/proc/l", "/proc/m", "/proc/n", "/proc/o",
					   "/proc/p", "/proc/q", "/usr/r",  NULL};

	(void)state;
	make("some/proc");
	make("some/usr/bin");
	make("some/home/z");
	make_link("some/bin", "usr/bin");
	check_root("some", one, "--ro-bind @/some /");
	check_root("some", deep,
		   "--ro-bind @/some / --tmpfs /home --ro-bind @/some/home/z /home/z ... "
		   "--remount-ro /home");
	check_root("some", many,
		   "--ro-bind @/some / --tmpfs /usr --ro-bind @/some/usr/bin /usr/bin "
		   "--tmpfs /proc ... --remount-ro /usr --remount-ro /proc");
	/* Also where the root itself lacks one. */
	check_root("some", both,
		   "--symlink usr/bin /bin --ro-bind @/some/home /home --ro-bind @/some/proc /proc "
		   "--ro-bind @/some/usr /usr --tmpfs /home --ro-bind @/some/home/z /home/z ... "
		   "--remount-ro / --remount-ro /home");
	/* A link is no place: what it leads to may be anywhere. */
	check_root("some", linked,
		   "--ro-bind @/some/home /home --ro-bind @/some/proc /proc --ro-bind @/some/usr "
		   "/usr ... --remount-ro /");
	check_root("some", deeper,
		   "--symlink usr/bin /bin --ro-bind @/some/home /home --ro-bind @/some/proc /proc "
		   "--ro-bind @/some/usr /usr --tmpfs /home/z ... --remount-ro / --remount-ro "
		   "/home/z");
	check_root("some", inside, "--ro-bind @/some / --tmpfs /home/z ... --remount-ro /home/z");
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char *remove = leat_strf("rm -rf %s", root);

	(void)state;
	assert_int_equal(system(remove), 0);
	free(remove);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_images),        cmocka_unit_test(knows_engines),
		cmocka_unit_test(chooses_variables),   cmocka_unit_test(writes_command_lines),
		cmocka_unit_test(says_what_cannot_be), cmocka_unit_test(makes_places),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
