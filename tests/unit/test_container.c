#include "base/container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
	NONE = LEAT_CONTAINER_NONE,
	ENTERS = LEAT_CONTAINER_ENTERS,
	USERS = LEAT_CONTAINER_USERS,
	DAEMON = LEAT_CONTAINER_DAEMON
};

static void by_name(void **state)
{
	static const struct {
		const char *path;
		int kind;
	} cases[] = {
		{"bwrap", ENTERS},
		{"/usr/bin/bwrap", ENTERS},
		{"../opt/apptainer", ENTERS},
		{"/usr/sbin/chroot", ENTERS},
		{"/usr/bin/docker", DAEMON},
		{"systemd-run", DAEMON},
		{"/usr/bin/bwrapper", NONE},
		{"/opt/docker/bin/tool", NONE},
		{"/usr/bin/bwrap/", NONE},
		{"", NONE},
		{"/bin/sh", NONE},
		{"/usr/bin/podman", USERS},
		{"/usr/bin/buildah", USERS},
		{"/usr/bin/apptainer", ENTERS},
		{"/usr/local/bin/singularity", ENTERS},
		{"/usr/bin/ch-run", ENTERS},
		{"/usr/bin/unshare", ENTERS},
		{"/usr/bin/nsenter", ENTERS},
		{"/usr/sbin/runc", ENTERS},
		{"/usr/bin/crun", ENTERS},
		{"/usr/bin/systemd-nspawn", ENTERS},
		{"/usr/bin/proot", ENTERS},
		{"/usr/bin/nerdctl", DAEMON},
		{"/usr/bin/podman-remote", DAEMON},
		{"/usr/bin/ch-runner", NONE},
		{"/usr/bin/runcon", NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum leat_container kind = leat_container_of(cases[i].path, NULL, NULL, false);

		assert_int_equal(cases[i].kind, kind);
		assert_int_equal(kind == LEAT_CONTAINER_NONE,
				 leat_container_obstacle(kind) == NULL);
	}
}

/* podman is an engine of its own, or the client of a service. */
static void podman(void **state)
{
	static const struct {
		const char *argv[6];
		const char *envp[3];
		int kind;
	} cases[] = {
		{{"podman", "run", "image"}, {0}, ENTERS},
		{{"podman"}, {0}, ENTERS},
		{{0}, {0}, ENTERS},
		{{"podman", "--remote", "run", "image"}, {0}, DAEMON},
		{{"podman", "--remote=false", "run", "image"}, {0}, ENTERS},
		{{"podman", "--log-level", "debug", "-r", "run", "image"}, {0}, DAEMON},
		{{"podman", "--url=ssh://there", "exec"}, {0}, DAEMON},
		{{"podman", "-c", "there", "exec"}, {0}, DAEMON},
		{{"podman", "run", "-c", "5", "image"}, {0}, ENTERS},
		{{"podman", "run", "image", "curl", "--url"}, {0}, ENTERS},
		{{"podman", "--remotely"}, {0}, ENTERS},
		{{"podman", "run"}, {"A=1", "CONTAINER_HOST=unix:/run/podman"}, DAEMON},
		{{"podman", "run"}, {"CONTAINER_CONNECTION=there"}, DAEMON},
		{{"podman", "run"}, {"CONTAINER_HOST="}, ENTERS},
		{{"podman", "run"}, {"CONTAINER_HOSTS=x"}, ENTERS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(cases[i].kind,
				 leat_container_of("/usr/bin/podman",
						   (char *const *)(uintptr_t)cases[i].argv,
						   (char *const *)(uintptr_t)cases[i].envp, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name),
		cmocka_unit_test(podman),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
