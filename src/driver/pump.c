#include "driver/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

static void close_pump(struct leat_pump *p, int *fd)
{
	if (!p->open)
		return;
	p->open = false;
	leat_console_flush(&p->driver->console, &p->text);
	uv_close((uv_handle_t *)&p->poll, NULL);
	leat_close(fd);
}

/* One read; false when there is nothing more now, or ever. */
static bool take(struct leat_pump *p, int *fd)
{
	char buf[16384];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0) {
		leat_console_write(&p->driver->console, &p->text, buf, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_pump(p, fd);
	return false;
}

static int *descriptor_of(struct leat_pump *p)
{
	struct leat_run_step *s = p->poll.data;

	return p == &s->out ? &s->process.out_fd : &s->process.err_fd;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct leat_pump *p = (struct leat_pump *)poll;

	(void)events;
	if (status < 0)
		close_pump(p, descriptor_of(p));
	else
		take(p, descriptor_of(p));
}

static int open_pump(struct leat_driver *d, size_t step, struct leat_pump *p, bool to_stderr)
{
	int result;

	p->driver = d;
	p->text.prefix = d->wf->steps[step].name;
	p->text.colour = (int)step;
	p->text.to_stderr = to_stderr;
	p->poll.data = &d->steps[step];
	result = uv_poll_init(&d->loop, &p->poll, *descriptor_of(p));
	if (result < 0)
		return result;
	p->open = true;
	return uv_poll_start(&p->poll, UV_READABLE, on_readable);
}

int leat_pump_start(struct leat_driver *d, size_t step)
{
	int result = open_pump(d, step, &d->steps[step].out, false);

	return result < 0 ? result : open_pump(d, step, &d->steps[step].err, true);
}

void leat_pump_stop(struct leat_driver *d, size_t step)
{
	struct leat_run_step *s = &d->steps[step];

	while (s->out.open && take(&s->out, &s->process.out_fd))
		;
	close_pump(&s->out, &s->process.out_fd);
	while (s->err.open && take(&s->err, &s->process.err_fd))
		;
	close_pump(&s->err, &s->process.err_fd);
}
