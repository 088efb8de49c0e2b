#include "base/container.h"

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum leat_container kind;
} known[] = {
	{"bwrap", LEAT_CONTAINER_ENTERS},
	{"podman", LEAT_CONTAINER_USERS},
	{"buildah", LEAT_CONTAINER_USERS},
	{"apptainer", LEAT_CONTAINER_ENTERS},
	{"singularity", LEAT_CONTAINER_ENTERS},
	{"ch-run", LEAT_CONTAINER_ENTERS},
	{"runc", LEAT_CONTAINER_ENTERS},
	{"crun", LEAT_CONTAINER_ENTERS},
	{"unshare", LEAT_CONTAINER_ENTERS},
	{"chroot", LEAT_CONTAINER_ENTERS},
	{"nsenter", LEAT_CONTAINER_ENTERS},
	{"pivot_root", LEAT_CONTAINER_ENTERS},
	{"switch_root", LEAT_CONTAINER_ENTERS},
	{"systemd-nspawn", LEAT_CONTAINER_ENTERS},
	{"proot", LEAT_CONTAINER_ENTERS},
	{"enroot-nsenter", LEAT_CONTAINER_ENTERS},
	{"enroot-switchroot", LEAT_CONTAINER_ENTERS},
	{"docker", LEAT_CONTAINER_DAEMON},
	{"docker-compose", LEAT_CONTAINER_DAEMON},
	{"podman-remote", LEAT_CONTAINER_DAEMON},
	{"nerdctl", LEAT_CONTAINER_DAEMON},
	{"ctr", LEAT_CONTAINER_DAEMON},
	{"crictl", LEAT_CONTAINER_DAEMON},
	{"lxc", LEAT_CONTAINER_DAEMON},
	{"incus", LEAT_CONTAINER_DAEMON},
	{"machinectl", LEAT_CONTAINER_DAEMON},
	{"systemd-run", LEAT_CONTAINER_DAEMON},
};

/* "--remote" or "--url=...", but not "--remote=false". */
static bool is_option(const char *word, const char *option)
{
	const char *rest = word + strlen(option);

	return leat_str_begins(word, option) &&
	       (!*rest || (*rest == '=' && strcmp(rest, "=false")));
}

/* By these options, which stand before its command, podman is the client of a service. */
static bool asks_service(char *const argv[])
{
	static const char *const commands[] = {"run",  "exec", "start", "create",   "build",
					       "kube", "play", "pod",   "container"};
	static const char *const options[] = {"--remote", "-r", "--url", "--connection", "-c"};

	for (size_t i = 1; argv && argv[0] && argv[i]; i++) {
		for (size_t k = 0; k < sizeof(commands) / sizeof(*commands); k++)
			if (strcmp(argv[i], commands[k]) == 0)
				return false;
		for (size_t k = 0; k < sizeof(options) / sizeof(*options); k++)
			if (is_option(argv[i], options[k]))
				return true;
	}
	return false;
}

/* Or by these variables. See podman(1). */
static bool has_service(char *const envp[])
{
	static const char *const variables[] = {"CONTAINER_HOST=", "CONTAINER_CONNECTION="};

	for (size_t i = 0; envp && envp[i]; i++)
		for (size_t k = 0; k < sizeof(variables) / sizeof(*variables); k++)
			if (leat_str_begins(envp[i], variables[k]) && envp[i][strlen(variables[k])])
				return true;
	return false;
}

static enum leat_container find(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].kind;
	return LEAT_CONTAINER_NONE;
}

enum leat_container leat_container_of(const char *path, char *const argv[], char *const envp[],
				      bool by_root)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	enum leat_container kind = find(name);

	if (strcmp(name, "podman") == 0 && (asks_service(argv) || has_service(envp)))
		return LEAT_CONTAINER_DAEMON;
	return kind == LEAT_CONTAINER_USERS && by_root ? LEAT_CONTAINER_ENTERS : kind;
}

const char *leat_container_obstacle(enum leat_container kind)
{
	switch (kind) {
	case LEAT_CONTAINER_ENTERS:
	case LEAT_CONTAINER_USERS:
		return "a program that starts others in another root directory or namespace";
	case LEAT_CONTAINER_DAEMON:
		return "a program that has a daemon start others, where a run's files are not "
		       "to be seen";
	default:
		return NULL;
	}
}
