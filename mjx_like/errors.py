"""The exceptions that mjx_like raises for a user's mistake: one readable line each."""


class MjxLikeError(ValueError):
    """Base of all errors of this package that a user can mend."""


class ModelError(MjxLikeError):
    """A model file or a changed Model that is wrong: where, what was found, what is allowed."""


class UnsupportedError(MjxLikeError):
    """A model that parses and compiles, but that the engine cannot run yet; lists all that stands in the way."""


class InputError(MjxLikeError):
    """An argument of a public function that does not fit: shape, capacity, name or option."""
