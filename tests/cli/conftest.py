"""The command line keeps compiled programs in a folder of the test session, not in the user's."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def kept_programs(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path_factory.mktemp("programs")))
        yield
