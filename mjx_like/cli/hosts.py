"""Several hosts: the processes of one command, each on a machine of its own or beside each other on one.

Each runs the same command line with another `--host`; the first prints and writes what all have done.
"""

import argparse
import json
import os
import sys
import threading
import zlib

import jax
import numpy as np
from jax.experimental import multihost_utils

from mjx_like.cli.setup import natural, positive
from mjx_like.errors import InputError
from mjx_like.types.model import Model

ADDRESS, COUNT, NUMBER = "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"
# What hosts may be told differently: who they are, and what the first alone writes.
OWN = ("model", "hosts", "host", "coordinator", "wait", "out", "html", "video", "camera", "save_all", "run")


def add_host_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several hosts", "the same command on each, with its own --host")
    group.add_argument("--hosts", type=positive, help=f"how many processes share the worlds (default: {COUNT}, else 1)")
    group.add_argument("--host", type=natural, help=f"number of this one, from 0 (default: {NUMBER})")
    group.add_argument("--coordinator", metavar="ADDRESS:PORT", help=f"of host 0, free there (default: {ADDRESS})")
    group.add_argument("--wait", type=positive, default=120, help="seconds to wait for the others (default: 120)")


def join_hosts(args: argparse.Namespace) -> tuple[int, int]:
    """Meet the other hosts, and return the number of this one and how many there are; before JAX's first array.

    Nothing is done where there is one host. Where the others do not come in time, the process ends with status 2.

    Raises:
      InputError: a number or an address that is missing or cannot be; a port that is taken.
    """
    hosts, host, address = _given(args)
    if hosts == 1:
        return 0, 1
    print(f"host {host} of {hosts}: meeting at {address}", file=sys.stderr, flush=True)
    # jaxlib ends the process with a stack trace at the end of its own patience.
    watch = threading.Timer(args.wait, _give_up, (host, hosts, address, args.wait))
    watch.daemon = True
    watch.start()
    try:
        jax.distributed.initialize(address, hosts, host, initialization_timeout=args.wait + 60)
    except RuntimeError as error:
        raise InputError(f"--coordinator {address}: {str(error).splitlines()[0]}") from None
    finally:
        watch.cancel()
    return host, hosts


def _given(args: argparse.Namespace) -> tuple[int, int, str]:
    """Return the number of hosts, that of this one, and the address, from arguments or the environment."""
    hosts = _whole(COUNT) if args.hosts is None else args.hosts
    if (1 if hosts is None else hosts) == 1:
        if args.hosts is None and (args.host is not None or args.coordinator is not None):
            raise InputError("--host and --coordinator are of several hosts: give --hosts")
        return 1, 0, ""
    host = _whole(NUMBER) if args.host is None else args.host
    address = args.coordinator or os.environ.get(ADDRESS)
    if host is None:
        raise InputError(f"--hosts {hosts}: give the number of this one, --host or {NUMBER}")
    if host >= hosts:
        raise InputError(f"--host {host}: {hosts} hosts have the numbers 0 to {hosts - 1}")
    if not address:
        raise InputError(
            f"--hosts {hosts}: give the address of host 0 and a free port of it, --coordinator or {ADDRESS}"
        )
    name, _, port = address.rpartition(":")
    if not name or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f"--coordinator {address}: must be ADDRESS:PORT, such as 10.0.0.1:1234")
    return hosts, host, address


def _whole(variable: str) -> int | None:
    """Return the number in an environment variable, None where it is not set."""
    text = os.environ.get(variable, "")
    if text and not text.isdecimal():
        raise InputError(f"{variable}={text!r}: must be a whole number")
    return int(text) if text else None


def _give_up(host: int, hosts: int, address: str, wait: int) -> None:
    missing = f"host 0 does not answer at {address}" if host else f"not all of hosts 1 to {hosts - 1} came to {address}"
    print(f"error: {missing}, or another host is missing, within {wait} s (--wait)", file=sys.stderr, flush=True)
    os._exit(2)  # the main thread waits in jaxlib


def check_alike(args: argparse.Namespace, m: Model) -> None:
    """Raise InputError where hosts have other models or arguments than the first: their results would be no one's."""
    asked = {name: value for name, value in vars(args).items() if name not in OWN}
    digest = zlib.crc32(json.dumps(asked, default=str, sort_keys=True).encode())
    for leaf in jax.tree.leaves(m):
        digest = zlib.crc32(np.asarray(leaf).tobytes(), digest)
    digests = np.ravel(multihost_utils.process_allgather(np.asarray([digest], np.uint32)))
    others = [str(i) for i, other in enumerate(digests) if other != digests[0]]
    if others:
        raise InputError(f"host {', '.join(others)} was given another model or other arguments than host 0")


def finish_hosts() -> None:
    """Part from the other hosts, when all are done."""
    jax.distributed.shutdown()
