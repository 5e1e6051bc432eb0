/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for a block and frees it, argv[1] times, then makes the file argv[2]: it has come to its
 * end. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
    (void)count;
    for (int i = atoi(arguments[1]); i > 0; i--) {
        free(malloc((size_t)(i % 100 + 1)));
    }
    close(open(arguments[2], O_CREAT | O_WRONLY, 0600));
    return 0;
}
