# SPDX-License-Identifier: Apache-2.0
"""Workers of a Dask cluster, on any machines.

    this process --jobs, files--> scheduler --> workers, which have the same heapfit installed

Nothing is expected of the workers' file systems: the bytes of a file travel once, as a task of
their own, which Dask repeats where they are lost, and are compared with their hash on arrival.
Only this file needs Dask.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
import warnings
from collections.abc import Mapping
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
        self._files: dict[str, Future] = {}
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            self.close()
            raise HeapfitError(f"{address}: the cluster has no workers") from error

    @property
    def count(self) -> int:
        """How many jobs would begin at once."""
        threads: int = sum(self._client.nthreads().values())
        return max(1, threads)

    def do(self, job: Job, _: object) -> Any:  # noqa: ANN401 (the work's)
        """The result of a job; WorkerDiedError if Dask suspects it of the death of its workers."""
        files = [self._send_file(path) for path in job.files]
        future = self._client.submit(perform_there, _engine.version, job, files, pure=False)
        error = self._wait(future)
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
        self._files.clear()
        self._client.close(timeout=1)

    def _send_file(self, path: Path) -> dict[str, Any]:
        """A file's hash, and where its bytes will be; of a file of a store its path alone."""
        if isinstance(path, StoreFile):
            return {"path": path}
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self._files:
            key = f"heapfit-file-{digest}-{uuid.uuid4().hex}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # Dask's: that they are many
                self._files[digest] = self._client.submit(bytes, content, key=key)
        return {"name": path.name, "digest": digest, "content": self._files[digest]}


def _connect(address: str) -> Client:
    async def probe(credentials: dict[str, Any]) -> None:
        # a Client that cannot connect is not done with in seconds
        comm = await distributed.comm.connect(address, timeout=_PATIENCE, **credentials)
        await comm.close()

    try:
        security = distributed.Security()
        asyncio.run(probe(security.get_connection_args("client")))
        return distributed.Client(
            address, timeout=_PATIENCE, set_as_default=False, security=security
        )
    except (OSError, TypeError, ValueError, TimeoutError, RuntimeError) as error:
        raise HeapfitError(f"{address}: no Dask scheduler answers: {first_line(error)}") from error


def perform_there(version: str, job: Job, files: list[Mapping[str, Any]]) -> Any:  # noqa: ANN401
    """What a worker of the cluster does: a job, with its files in a folder of its own."""
    if version != _engine.version:
        raise HeapfitError(f"a worker of the cluster has heapfit {_engine.version}, not {version}")
    with scratch_folder() as folder:
        paths = [file.get("path") or folder / f"{i}-{file['name']}" for i, file in enumerate(files)]
        for file, path in zip(files, paths, strict=True):
            if "path" in file:
                continue
            if hashlib.sha256(file["content"]).hexdigest() != file["digest"]:
                raise HeapfitError(f"{file['name']}: damaged on its way to a worker")
            path.write_bytes(file["content"])
        return perform(job, paths)
