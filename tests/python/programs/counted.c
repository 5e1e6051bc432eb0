/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and frees without end in four threads until it is killed: counted FILE. The shared file
 * holds, for each thread, how many of its calls have returned: what a recording must know of.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4 };

static void *hammer(void *counter) {
    atomic_ulong *returned = counter;
    for (;;) {
        void *volatile block = malloc(100);
        atomic_fetch_add(returned, 1);
        free(block);
        atomic_fetch_add(returned, 1);
    }
    return NULL;
}

int main(int count, char **arguments) {
    const size_t size = THREADS * sizeof(atomic_ulong);
    const int file = count == 2 ? open(arguments[1], O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0 || ftruncate(file, (off_t)size) != 0) {
        return 1;
    }
    atomic_ulong *returned = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, hammer, &returned[i]);
    }
    pause();
    return 0;
}
