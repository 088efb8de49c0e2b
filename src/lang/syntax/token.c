#include "lang/syntax/token.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lang/syntax/quoted.h"

/* From its pieces: fy_token_get_text of libfyaml 0.7.12 hands out memory it has not written for
 * some badly indented block scalars. -ENOMEM, or -EBADMSG for blocks that libfyaml cannot give. */
static int join_pieces(struct fy_token *token, char **out, size_t *size)
{
	struct fy_token_iter *iter = fy_token_iter_create(token);
	const struct fy_iter_chunk *chunk = NULL;
	char *text = malloc(1), *grown;
	int error = 0, result = iter && text ? 0 : -ENOMEM;

	*size = 0;
	while (!result && (chunk = fy_token_iter_chunk_next(iter, chunk, &error))) {
		grown = realloc(text, *size + chunk->len + 1);
		if (!grown) {
			result = -ENOMEM;
			break;
		}
		text = grown;
		memcpy(text + *size, chunk->str, chunk->len);
		*size += chunk->len;
	}
	if (!result && error)
		result = -EBADMSG;
	if (iter)
		fy_token_iter_destroy(iter);
	if (result) {
		free(text);
		return result;
	}
	text[*size] = '\0';
	*out = text;
	return 0;
}

/* Of a folded block, libfyaml 0.7.12 drops the blank line before a line that begins with a tab. */
static const char *find_tab_line(const char *text, size_t size)
{
	const char *end = text + size;
	bool blank = false;

	for (const char *at = text; at && at < end; at = memchr(at, '\n', (size_t)(end - at))) {
		at += *at == '\n';
		at += strspn(at, " ");
		if (at < end && *at == '\t' && blank)
			return at;
		blank = at < end && (*at == '\n' || *at == '\r');
	}
	return NULL;
}

int leat_token_text(struct fy_token *token, const char *source, char **out, size_t *size,
		    const char **why)
{
	enum fy_scalar_style style = fy_token_scalar_style(token);
	const struct fy_mark *begin = fy_token_start_mark(token), *end = fy_token_end_mark(token);
	const char *text = begin ? source + begin->input_pos : source, *tab = NULL;
	size_t length = begin && end ? end->input_pos - begin->input_pos : 0;
	int error;

	if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) {
		error = leat_quoted_decode(text, length, style == FYSS_DOUBLE_QUOTED, out, size);
		if (error != -EILSEQ)
			return error;
		*why = "unknown escape sequence (write \\\\ for a backslash)";
		*size += (size_t)(text - source);
		return -EINVAL;
	}
	if (style == FYSS_FOLDED)
		tab = find_tab_line(text, length);
	if (tab) {
		*why = "in a folded block (>) a line that begins with a tab follows a blank line: "
		       "use spaces, or a literal block (|)";
		*size = (size_t)(tab - source);
		return -EINVAL;
	}
	error = join_pieces(token, out, size);
	if (error != -EBADMSG)
		return error;
	*why = "a block scalar without text and without a line end";
	*size = (size_t)(text - source);
	return -EINVAL;
}
