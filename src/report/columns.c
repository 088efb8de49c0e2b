/* The columns of each table. */
#include "report/columns.h"

#include "report/words.h"

#define COLUMNS(array) array, sizeof(array) / sizeof(*(array))

enum {
	TEXT = LEAT_COLUMN_TEXT,
	PAGE = LEAT_COLUMN_PAGE,
	JSON = LEAT_COLUMN_JSON,
	OPTIONAL = LEAT_COLUMN_OPTIONAL,
};

const char *const leat_call_names[LEAT_ANALYSIS_TYPES] = {
	"open", "create", "read", "write", "close", "unlink", "rename", "truncate", "map"};

/* ---- tasks ---- */

static const struct leat_report_task *task_of(const struct leat_row *row)
{
	return &row->r->found.analysis->tasks[row->index];
}

static bool get_task(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = task_of(row)->name;
	return true;
}

static bool get_task_run(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = (uint64_t)leat_task_run_ns(task_of(row)) / 1000;
	return true;
}

static bool get_task_time(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = leat_calls_time_ns(task_of(row)->calls);
	return true;
}

static bool get_task_read(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = task_of(row)->ways[LEAT_READ].bytes;
	return true;
}

static bool get_task_written(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = task_of(row)->ways[LEAT_WRITTEN].bytes;
	return true;
}

static bool get_task_reread(const struct leat_row *row, struct leat_cell *cell)
{
	const struct leat_analysis *a = row->r->found.analysis;
	uint64_t bytes = 0, unique = 0;

	for (uint32_t i = task_of(row)->edges; i != UINT32_MAX; i = a->edges[i].next) {
		bytes += leat_edge_bytes(&a->edges[i], LEAT_READ);
		unique += leat_edge_unique(&a->edges[i], LEAT_READ);
	}
	cell->part = bytes ? (double)(bytes - unique) / (double)bytes : 0;
	return task_of(row)->ways[LEAT_READ].bytes != 0;
}

static bool get_task_calls(const struct leat_row *row, struct leat_cell *cell)
{
	for (int i = 0; i < LEAT_ANALYSIS_TYPES; i++)
		cell->n += task_of(row)->calls[i].n;
	return true;
}

static bool get_task_failed(const struct leat_row *row, struct leat_cell *cell)
{
	for (int i = 0; i < LEAT_ANALYSIS_TYPES; i++)
		cell->n += task_of(row)->calls[i].failed;
	return true;
}

static bool get_task_files(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = task_of(row)->n_edges;
	return true;
}

static bool get_task_waited(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = task_of(row)->waited_ns;
	return true;
}

static const struct leat_column tasks[] = {
	{"name", "task", LEAT_UNIT_NAME, TEXT | PAGE | JSON, get_task, NULL},
	{"run_us", "ran", LEAT_UNIT_US, TEXT | PAGE | JSON, get_task_run, NULL},
	{"time_ns", "in calls", LEAT_UNIT_NS, TEXT | PAGE | JSON, get_task_time, NULL},
	{"read.bytes", "read", LEAT_UNIT_BYTES, TEXT | PAGE, get_task_read, NULL},
	{"reread", "re-read", LEAT_UNIT_SHARE, TEXT | PAGE | JSON, get_task_reread,
	 "of the bytes read, those that the task had read before"},
	{"written.bytes", "written", LEAT_UNIT_BYTES, TEXT | PAGE, get_task_written, NULL},
	{"calls", "calls", LEAT_UNIT_COUNT, PAGE | JSON, get_task_calls, NULL},
	{"failed", "failed", LEAT_UNIT_COUNT, PAGE | JSON, get_task_failed, NULL},
	{"files", "files", LEAT_UNIT_COUNT, TEXT | PAGE | JSON, get_task_files, NULL},
	{"waited_ns", "waited", LEAT_UNIT_NS, TEXT | PAGE | JSON | OPTIONAL, get_task_waited, NULL},
};

const struct leat_columns leat_columns_tasks = {"tasks", COLUMNS(tasks)};

/* ---- files ---- */

static const struct leat_report_file *file_of(const struct leat_row *row)
{
	return &row->r->found.analysis->files[row->index];
}

static bool get_file(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = leat_words_file(row->r, row->index, cell->made);
	return true;
}

static bool get_file_written(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = file_of(row)->bytes[LEAT_WRITTEN];
	return true;
}

static bool get_file_read(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = file_of(row)->bytes[LEAT_READ];
	return true;
}

static bool get_file_time(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = file_of(row)->time_ns;
	return true;
}

static bool get_file_inside(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = file_of(row)->inside;
	return cell->text != NULL;
}

static const struct leat_column files[] = {
	{"path", "file", LEAT_UNIT_NAME, TEXT | PAGE | JSON, get_file, NULL},
	{"written", "written", LEAT_UNIT_BYTES, TEXT | PAGE | JSON, get_file_written, NULL},
	{"writers", "writers", LEAT_UNIT_COUNT, PAGE, NULL, "tasks that wrote it"},
	{"read", "read", LEAT_UNIT_BYTES, TEXT | PAGE | JSON, get_file_read, NULL},
	{"readers", "readers", LEAT_UNIT_COUNT, PAGE, NULL, "tasks that read it"},
	{"time_ns", "in calls", LEAT_UNIT_NS, TEXT | PAGE | JSON, get_file_time, NULL},
	{"inside", "in a container", LEAT_UNIT_NAME, TEXT | JSON | OPTIONAL, get_file_inside, NULL},
};

const struct leat_columns leat_columns_files = {"files", COLUMNS(files)};

/* ---- edges: a task, a file, one way ---- */

static const struct leat_report_edge *edge_of(const struct leat_row *row)
{
	return &row->r->found.analysis->edges[row->index];
}

static const struct leat_transfer *transfer_of(const struct leat_row *row)
{
	return &edge_of(row)->ways[row->way]->sum;
}

static bool get_edge_task(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = row->r->found.analysis->tasks[edge_of(row)->task].name;
	return true;
}

static bool get_edge_direction(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = row->way == LEAT_READ ? "<-" : "->";
	return true;
}

static bool get_edge_file(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = leat_words_file(row->r, edge_of(row)->file, cell->made);
	return true;
}

static bool get_edge_bytes(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = transfer_of(row)->bytes;
	return true;
}

static bool get_edge_factor(const struct leat_row *row, struct leat_cell *cell)
{
	const struct leat_report_edge *e = edge_of(row);
	uint64_t unique = leat_edge_unique(e, row->way);

	cell->estimate = !leat_coverage_is_exact(&e->ways[row->way]->coverage);
	cell->part = unique ? (double)leat_edge_bytes(e, row->way) / (double)unique : 0;
	return unique != 0;
}

static bool get_edge_calls(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = transfer_of(row)->calls;
	return true;
}

static bool get_edge_mean(const struct leat_row *row, struct leat_cell *cell)
{
	const struct leat_transfer *t = transfer_of(row);

	cell->n = t->calls ? t->bytes / t->calls : 0;
	return t->calls != 0;
}

static bool get_edge_sequential(const struct leat_row *row, struct leat_cell *cell)
{
	const struct leat_transfer *t = transfer_of(row);
	uint64_t done = t->calls - t->failed;

	cell->part = done ? (double)t->sequential / (double)done : 0;
	return done != 0;
}

static bool get_edge_active(const struct leat_row *row, struct leat_cell *cell)
{
	cell->part = leat_edge_bulkiness(row->r->found.analysis, edge_of(row));
	return cell->part >= 0;
}

static bool get_edge_time(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = transfer_of(row)->time_ns;
	return true;
}

/* Members of the direction, "read" or "written", or of its edge. */
static const struct leat_column edges[] = {
	{"edge.task", "task", LEAT_UNIT_NAME, TEXT | PAGE, get_edge_task, NULL},
	{"direction", "", LEAT_UNIT_WORD, TEXT | PAGE, get_edge_direction, NULL},
	{"edge.file", "file", LEAT_UNIT_NAME, TEXT | PAGE, get_edge_file, NULL},
	{"bytes", "bytes", LEAT_UNIT_BYTES, TEXT | PAGE, get_edge_bytes, NULL},
	{"unique", "different", LEAT_UNIT_BYTES, PAGE, NULL, "each place of the file counted once"},
	{"reread_factor", "re-read", LEAT_UNIT_FACTOR, TEXT | PAGE | JSON, get_edge_factor,
	 "bytes by different bytes, 1.0x: each once"},
	{"calls", "calls", LEAT_UNIT_COUNT, TEXT | PAGE, get_edge_calls, NULL},
	{"mean_bytes", "each", LEAT_UNIT_BYTES, PAGE | JSON, get_edge_mean, NULL},
	{"sequential_share", "sequential", LEAT_UNIT_SHARE, TEXT | PAGE | JSON, get_edge_sequential,
	 "calls that begin where the last one ended"},
	{"up", "up", LEAT_UNIT_COUNT, PAGE, NULL,
	 "calls that begin behind where the last one ended"},
	{"down", "down", LEAT_UNIT_COUNT, PAGE, NULL,
	 "calls that begin before where the last one ended"},
	{"first_us", "from", LEAT_UNIT_US, PAGE, NULL, NULL},
	{"last_us", "to", LEAT_UNIT_US, PAGE, NULL, NULL},
	{"edge.bulkiness", "active", LEAT_UNIT_PERCENT, TEXT | PAGE, get_edge_active,
	 "active span, from first to last access, of the task's run; high is like a stream, low is "
	 "in bulk"},
	{"time_ns", "in calls", LEAT_UNIT_NS, TEXT | PAGE, get_edge_time, NULL},
};

const struct leat_columns leat_columns_edges = {"edges", COLUMNS(edges)};

/* ---- types of calls ---- */

static const struct leat_calls *calls_of(const struct leat_row *row)
{
	return &row->r->found.analysis->calls[row->index];
}

/* NULL: it moves nothing. */
static const struct leat_transfer *moved_by(const struct leat_row *row)
{
	const struct leat_analysis *a = row->r->found.analysis;

	return row->index == (uint32_t)leat_analysis_type_index(LEAT_TRACE_READ)
		       ? &a->ways[LEAT_READ]
	       : row->index == (uint32_t)leat_analysis_type_index(LEAT_TRACE_WRITE)
		       ? &a->ways[LEAT_WRITTEN]
		       : NULL;
}

static bool get_call(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = leat_call_names[row->index];
	return true;
}

static bool get_call_n(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = calls_of(row)->n;
	return true;
}

static bool get_call_failed(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = calls_of(row)->failed;
	return cell->n != 0;
}

static bool get_call_bytes(const struct leat_row *row, struct leat_cell *cell)
{
	const struct leat_transfer *t = moved_by(row);

	cell->n = t ? t->bytes : 0;
	return t != NULL;
}

static bool get_call_time(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = calls_of(row)->time_ns;
	return true;
}

static bool get_call_mean(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = calls_of(row)->n ? calls_of(row)->time_ns / calls_of(row)->n : 0;
	return calls_of(row)->n != 0;
}

static bool get_call_longest(const struct leat_row *row, struct leat_cell *cell)
{
	const struct leat_transfer *t = moved_by(row);

	cell->n = t ? t->longest_ns : 0;
	return t != NULL;
}

static const struct leat_column calls[] = {
	{"name", "call", LEAT_UNIT_NAME, TEXT | PAGE, get_call, NULL},
	{"calls", "calls", LEAT_UNIT_COUNT, TEXT | PAGE, get_call_n, NULL},
	{"failed", "failed", LEAT_UNIT_COUNT, TEXT | PAGE, get_call_failed, NULL},
	{"bytes", "bytes", LEAT_UNIT_BYTES, TEXT | PAGE | JSON, get_call_bytes, NULL},
	{"time_ns", "in calls", LEAT_UNIT_NS, TEXT | PAGE, get_call_time, NULL},
	{"mean_ns", "on average", LEAT_UNIT_NS, PAGE | JSON, get_call_mean, NULL},
	{"longest_ns", "longest", LEAT_UNIT_NS, TEXT | PAGE | JSON, get_call_longest, NULL},
};

const struct leat_columns leat_columns_calls = {"calls", COLUMNS(calls)};

/* ---- waits ---- */

static const struct leat_report_wait *wait_of(const struct leat_row *row)
{
	return &row->r->found.waits[row->index];
}

static bool get_wait_step(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = wait_of(row)->step;
	return true;
}

static bool get_wait_name(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = wait_of(row)->name;
	return true;
}

static bool get_wait_times(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = wait_of(row)->times;
	return true;
}

static bool get_wait_total(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = wait_of(row)->ns;
	return true;
}

static bool get_wait_longest(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = wait_of(row)->longest_ns;
	return true;
}

static const struct leat_column waits[] = {
	{"step", "step", LEAT_UNIT_NAME, TEXT | PAGE | JSON, get_wait_step, NULL},
	{"name", "waited for", LEAT_UNIT_NAME, TEXT | PAGE | JSON, get_wait_name, NULL},
	{"times", "times", LEAT_UNIT_COUNT, TEXT | PAGE | JSON, get_wait_times, NULL},
	{"waited_ns", "total", LEAT_UNIT_NS, TEXT | PAGE | JSON, get_wait_total, NULL},
	{"longest_ns", "longest", LEAT_UNIT_NS, TEXT | PAGE | JSON, get_wait_longest, NULL},
};

const struct leat_columns leat_columns_waits = {"waits", COLUMNS(waits)};

/* ---- file systems ---- */

static const struct leat_report_system *system_of(const struct leat_row *row)
{
	return &row->r->found.analysis->systems[row->index];
}

static bool get_system(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = system_of(row)->at ? system_of(row)->at : "(not recorded)";
	return true;
}

static bool get_system_type(const struct leat_row *row, struct leat_cell *cell)
{
	cell->text = system_of(row)->type;
	return cell->text != NULL;
}

static bool get_system_read(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = system_of(row)->bytes[LEAT_READ];
	return true;
}

static bool get_system_written(const struct leat_row *row, struct leat_cell *cell)
{
	cell->n = system_of(row)->bytes[LEAT_WRITTEN];
	return true;
}

static bool get_system_time(const struct leat_row *row, struct leat_cell *cell)
{
	for (size_t k = 0; k < LEAT_SERIES_PIECES; k++)
		cell->n += system_of(row)->series.v[k][LEAT_SERIES_TIME];
	return true;
}

static const struct leat_column systems[] = {
	{"at", "file system", LEAT_UNIT_NAME, TEXT, get_system, NULL},
	{"type", "type", LEAT_UNIT_NAME, TEXT | JSON, get_system_type, NULL},
	{"read", "read", LEAT_UNIT_BYTES, TEXT | JSON, get_system_read, NULL},
	{"written", "written", LEAT_UNIT_BYTES, TEXT | JSON, get_system_written, NULL},
	{"time_ns", "in calls", LEAT_UNIT_NS, TEXT | JSON, get_system_time, NULL},
};

const struct leat_columns leat_columns_systems = {"systems", COLUMNS(systems)};
