"""Read a model file and write it in another format: MJCF or compiled."""

import argparse
import pathlib

import jax

from mjx_like.cli.setup import add_option_arguments, given_options, load, natural
from mjx_like.compiler.load import compile_model, say_contact, say_integrator
from mjx_like.errors import InputError
from mjx_like.io import save, save_xml
from mjx_like.mjcf.edit.spec import Spec

READ = (".xml", ".urdf", ".mjcf", ".npz")
WRITTEN = (".xml", ".npz")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="IN", help="MJCF or URDF file, or compiled model (.npz)")
    parser.add_argument("out", metavar="OUT", help="file to write: MJCF (.xml) or compiled model (.npz)")
    add_option_arguments(parser)
    parser.add_argument("--compiled", action="store_true", help="write the compiled values, not what IN says")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float64", help="of a compiled model")
    parser.add_argument("--nconmax", type=natural, help="capacity of the contact buffer of a compiled model")
    parser.add_argument("--njmax", type=natural, help="capacity of the constraint buffer of a compiled model")


def run(args: argparse.Namespace) -> None:
    source, target = pathlib.Path(args.model), pathlib.Path(args.out)
    for path, known in ((source, READ), (target, WRITTEN)):
        if path.suffix.lower() not in known:
            raise InputError(f"{path}: the name must end in one of {', '.join(known)}")
    if target.suffix == ".xml" and source.suffix != ".npz" and not args.compiled:
        jax.config.update("jax_enable_x64", True)
        if not source.is_file():
            raise InputError(f"{source}: no such file")
        spec = Spec.from_file(source)
        options = given_options(args)
        model = compile_model(spec, **options)  # what is written is known to compile
        if options.keys() - {"integrator"}:
            say_contact(spec, model)
        if "integrator" in options:
            say_integrator(spec, model)
        save_xml(target, spec)
    else:
        model = load(args)
        (save if target.suffix == ".npz" else save_xml)(target, model)
    print(f"{source} -> {target}")
