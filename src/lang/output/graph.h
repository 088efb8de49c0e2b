/* Which step gives which files to which: the workflow as a graph, for people
 * and programs. */
#ifndef LEAT_LANG_OUTPUT_GRAPH_H
#define LEAT_LANG_OUTPUT_GRAPH_H

#include "model/workflow.h"

#include <stdio.h>

/* Write the graph as "text", "dot" (Graphviz) or "json". Nodes are the steps and
 * the names and patterns of their streams; an output has its commit and firing
 * rule; an output and an input of different spelling that may be one file (a
 * name and a pattern, a directory and a file in it) are joined by a match. The
 * instances of an ensemble are steps; an inport says what is seen of which.
 * 0, -EINVAL for another format, -ENOMEM, -EIO when `out` took not all. Any thread. */
int leat_graph_write(const struct leat_workflow *wf, const char *format, FILE *out);

struct leat_graph;

/* The graph of `wf`, which is borrowed. NULL when out of memory. Any thread. */
struct leat_graph *leat_graph_new(const struct leat_workflow *wf);
/* NULL is allowed. */
void leat_graph_free(struct leat_graph *g);

/* What step `step` reads, sees and writes, a line each, as in "text". */
void leat_graph_write_step(const struct leat_graph *g, size_t step, FILE *out);

#endif
