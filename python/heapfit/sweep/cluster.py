# SPDX-License-Identifier: Apache-2.0
"""Workers of a Dask cluster, on any machines.

    this process --jobs, files--> scheduler --> workers, which have the same heapfit installed

Nothing is expected of the workers' file systems: the bytes of a file travel once, as a task of
their own, which Dask repeats where they are lost.
Only this file needs Dask.
"""

from __future__ import annotations

import asyncio
import time
import uuid
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import distributed
from distributed import Client, Future

from heapfit import _engine
from heapfit.errors import HeapfitError, first_line
from heapfit.outputs.scratch import scratch_folder
from heapfit.store_file import StoreFile
from heapfit.sweep.job import Job, WorkerDiedError, perform

_PATIENCE = 3.0  # seconds to answer, and to find a worker at the start
_WORKERLESS = 60.0  # seconds without any worker, after which none is expected any more


class Cluster:
    """The workers behind the scheduler at an address such as tcp://host:8786.

    At tls://host:8786 with the certificates of Dask's own configuration (docs/evidence/sweeps.md).
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = _connect(address)
        with suppress(ValueError):  # where this is no job of a cluster itself
            distributed.secede()  # one that waits for its own jobs takes no place from them
        self._files: dict[Path, Future] = {}  # their bytes
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            self.close()
            raise HeapfitError(f"{address}: the cluster has no workers") from error

    @property
    def count(self) -> int:
        """How many jobs would begin at once."""
        return max(1, int(sum(self._client.nthreads().values())))

    def do(self, job: Job, _: object) -> Any:  # noqa: ANN401 (the work's)
        """The result of a job; WorkerDiedError if Dask suspects it of the death of its workers."""
        files = [self._send_file(path) for path in job.files]
        future = self._client.submit(perform_there, _engine.version, job, files, pure=False)
        error = self._wait(future)
        with suppress(distributed.KilledWorker):  # before it handed over what it had finished
            if future.status == "finished":
                return future.result()
        if error is None or isinstance(error, distributed.KilledWorker):
            raise WorkerDiedError
        if isinstance(error, HeapfitError) or hasattr(error, "__notes__"):  # of the job itself
            raise error
        raise HeapfitError(f"{self._address}: a worker failed: {first_line(error)}")

    def _wait(self, future: Future) -> BaseException | None:
        """What the job has raised, once it has ended; HeapfitError if nobody is there to do it."""
        last_seen = time.monotonic()
        while self._client.status == "running":
            with suppress(TimeoutError):
                error: BaseException | None = future.exception(timeout=1)
                return error
            if self._client.nthreads():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > _WORKERLESS:
                raise HeapfitError(f"{self._address}: the cluster has no workers any more")
        raise HeapfitError(f"{self._address}: the connection to the cluster is lost")

    def close(self) -> None:
        """Forgets all jobs; those that workers have begun they end for themselves."""
        if self._client.status == "running":
            self._client.cancel([*self._client.futures], force=True)
        self._client.close(timeout=1)

    def _send_file(self, path: Path) -> tuple[Path, Future | None]:
        """A file and where its bytes will be; of a file of a store, which is read there, None."""
        if isinstance(path, StoreFile):
            return path, None
        if path not in self._files:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # Dask's: that they are many
                self._files[path] = self._client.submit(
                    bytes, path.read_bytes(), key=f"heapfit-file-{uuid.uuid4().hex}"
                )
        return path, self._files[path]


def _connect(address: str) -> Client:
    async def probe(credentials: dict[str, Any]) -> None:
        # a Client that cannot connect is not done with in seconds
        await (await distributed.comm.connect(address, timeout=_PATIENCE, **credentials)).close()

    try:
        security = distributed.Security()
        asyncio.run(probe(security.get_connection_args("client")))
        return distributed.Client(
            address, timeout=_PATIENCE, set_as_default=False, security=security
        )
    except (OSError, TypeError, ValueError, TimeoutError, RuntimeError) as error:
        raise HeapfitError(f"{address}: no Dask scheduler answers: {first_line(error)}") from error


def perform_there(version: str, job: Job, files: Sequence[tuple[Path, bytes | None]]) -> Any:  # noqa: ANN401
    """What a worker of the cluster does: a job, with its files in a folder of its own."""
    if version != _engine.version:
        raise HeapfitError(f"a worker of the cluster has heapfit {_engine.version}, not {version}")
    with scratch_folder() as folder:
        paths = []
        for i, (path, content) in enumerate(files):
            paths.append(path if content is None else folder / f"{i}-{path.name}")
            if content is not None:
                paths[i].write_bytes(content)
        return perform(job, paths)
