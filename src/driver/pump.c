#include "driver/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

static void close_pump(struct leat_pump *p)
{
	if (!p->poll)
		return;
	leat_console_flush(&p->driver->console, &p->text);
	uv_close((uv_handle_t *)p->poll, on_closed);
	p->poll = NULL;
	leat_close(p->fd);
}

/* One read; false when there is nothing more now, or ever. */
static bool take(struct leat_pump *p)
{
	char buf[16384];
	ssize_t n = read(*p->fd, buf, sizeof(buf));

	if (n > 0) {
		leat_console_write(&p->driver->console, &p->text, buf, (size_t)n);
		leat_kept_add(&p->driver->steps[p->step].printed, buf, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_pump(p);
	return false;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct leat_pump *p = poll->data;

	(void)events;
	if (status < 0)
		close_pump(p);
	else
		take(p);
}

int leat_pump_open(struct leat_driver *d, struct leat_pump *p, int *fd, size_t step, bool to_stderr)
{
	uv_poll_t *poll = calloc(1, sizeof(*poll));
	int result;

	if (!poll)
		return -ENOMEM;
	p->driver = d;
	p->step = step;
	p->fd = fd;
	p->text.prefix = d->wf->steps[step].name;
	p->text.colour = (int)step;
	p->text.to_stderr = to_stderr;
	poll->data = p;
	result = uv_poll_init(&d->loop, poll, *fd);
	if (result < 0) {
		free(poll);
		return result;
	}
	p->poll = poll;
	return uv_poll_start(poll, UV_READABLE, on_readable);
}

void leat_pump_drain(struct leat_driver *d, size_t step)
{
	struct leat_pump *const pumps[] = {&d->steps[step].out, &d->steps[step].err};

	for (size_t i = 0; i < 2; i++)
		while (pumps[i]->poll && take(pumps[i]))
			;
}

void leat_pump_close(struct leat_pump *p)
{
	while (p->poll && take(p))
		;
	close_pump(p);
}

int leat_pump_start(struct leat_driver *d, size_t step)
{
	struct leat_run_step *s = &d->steps[step];
	int result = leat_pump_open(d, &s->out, &s->process.out_fd, step, false);

	return result < 0 ? result : leat_pump_open(d, &s->err, &s->process.err_fd, step, true);
}

void leat_pump_stop(struct leat_driver *d, size_t step)
{
	leat_pump_close(&d->steps[step].out);
	leat_pump_close(&d->steps[step].err);
}
