"""The command line keeps compiled programs in a folder of the session, not in the user's, and sets its precision."""

import jax
import pytest


@pytest.fixture(scope="session", autouse=True)
def kept_programs(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path_factory.mktemp("programs")))
        yield


@pytest.fixture(autouse=True)
def precision():
    """The precision that the other tests need: a command sets its own."""
    yield
    jax.config.update("jax_enable_x64", True)
