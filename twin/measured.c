/* SPDX-License-Identifier: Apache-2.0 */
/* A measured part to a file. */
#include "nandwich-twin/measured.h"

#include <stdio.h>

#include "nandwich-twin/file.h"

static void put_line(void *context, const char *line)
{
    (void)fprintf(context, "%s\n", line); /* an error shows when the stream is closed */
}

int nw_measured_save(const struct nw_check *check, const char *path)
{
    struct nw_replace replace;
    FILE *stream;
    int good;

    if (nw_replace_begin(&replace, path) < 0) {
        return NW_ERR_IO;
    }
    stream = nw_replace_stream(&replace);
    if (stream == NULL) {
        (void)nw_replace_end(&replace, 0);
        return NW_ERR_IO;
    }
    nw_check_text(check, put_line, stream);
    good = ferror(stream) == 0;
    good = fclose(stream) == 0 && good;
    return nw_replace_end(&replace, good) < 0 || !good ? NW_ERR_IO : NW_OK;
}
