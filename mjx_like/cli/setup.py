"""What commands share: arguments for the model, and JAX's settings before it starts."""

import argparse
import math
import os
import pathlib
from typing import Any

import jax
import numpy as np

from mjx_like.errors import InputError
from mjx_like.io import load as load_compiled
from mjx_like.rollout.sharding import can_share_cpu
from mjx_like.types.enums import IntegratorType
from mjx_like.types.hard import CONTACTS
from mjx_like.types.model import Model


def positive(text: str) -> int:
    """Return a whole number of at least 1, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def seconds(text: str) -> float:
    """Return a time above 0, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def natural(text: str) -> int:
    """Return a whole number of at least 0, for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


_MOST_DEVICES = 1024  # of a host: JAX makes as many on a CPU as it is asked for
INTEGRATORS = tuple(kind.keyword for kind in IntegratorType)
MODEL = "model file: MJCF, URDF, or compiled (.npz)"


def add_model_arguments(parser: argparse.ArgumentParser, what: str = MODEL) -> None:
    """Add MODEL, capacities and dtype."""
    parser.add_argument("model", metavar="MODEL", help=what)
    parser.add_argument("--nconmax", type=natural, help="capacity of the contact buffer (default: from the model)")
    parser.add_argument("--njmax", type=natural, help="capacity of the constraint buffer (default: from the model)")
    parser.add_argument("--refresh", type=natural, help="of hard contact: solves after the first (default: 1)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")


def add_option_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the choice of contact and of the integrator."""
    parser.add_argument("--contact", choices=CONTACTS, help="(default: what the file says, else soft, as MuJoCo)")
    parser.add_argument("--gap", type=float, help="of hard contact: distance at rest in m (default: 1e-5)")
    parser.add_argument("--slip", type=float, help="of hard contact: creep in m/s (default: 10 gap per second)")
    parser.add_argument("--integrator", choices=INTEGRATORS, help="(default: what the file says)")


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of contact and the integrator that were given, for a loader."""
    given = {name: getattr(args, name, None) for name in ("contact", "gap", "slip", "integrator")}
    return {name: value for name, value in given.items() if value is not None}


def load(args: argparse.Namespace) -> Model:
    """Set JAX's precision, and return the Model of the file, with the options that were asked for.

    Raises:
      InputError: the file does not exist; a gap or slip of soft contact, or one that is not positive.
      ModelError: what the file says is wrong.
      UnsupportedError: what hard contact does not do.
    """
    jax.config.update("jax_enable_x64", args.dtype == "float64")
    if not pathlib.Path(args.model).is_file():
        what = "is no file" if pathlib.Path(args.model).exists() else "no such file"
        raise InputError(f"{args.model or repr(args.model)}: {what}")
    options = {"nconmax": args.nconmax, "njmax": args.njmax, **given_options(args)}
    if args.model.endswith(".npz"):
        m = load_compiled(args.model, dtype=np.dtype(args.dtype), **options)
    else:
        m = Model.from_xml_path(args.model, **options)
    refresh = getattr(args, "refresh", None)
    return m if refresh is None else m.replace(opt=m.opt.replace(refresh=refresh))


def use_cpu_devices(count: int | None) -> None:
    """Let JAX have `count` devices on the CPU, one a core if None and possible; to be called before its first array.

    XLA runs one step on one core: devices that share the worlds are how a rollout uses several. With as many worker
    threads as devices its CPU runtime can hang, all waiting, so it gets more of them (NPROC); splitting single
    operations over cores only costs time here.

    Raises:
      InputError: more devices than make sense on one machine.
    """
    if count is not None and count > _MOST_DEVICES:
        raise InputError(f"--devices {count}: a host has at most {_MOST_DEVICES}")
    available = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    count = count or (len(available) if can_share_cpu() else 1)
    os.environ["NPROC"] = str(8 + 2 * count)
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
    if jax.config.jax_num_cpu_devices != count:
        jax.config.update("jax_num_cpu_devices", count)
