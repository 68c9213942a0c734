"""The types of activation dynamics, gain and bias of actuators: MuJoCo's numbers, and what the compiler must know.

A row is the whole of what the language says of a type; its kernel has a row in `actuator/table.py`.
"""

import enum
from enum import IntEnum


class Parameters(enum.Enum):
    """How the parameters of a gain or bias change in a frame whose units are scaled.

    AFFINE: as the coefficients of a polynomial in length and velocity. MUSCLE: as a peak force. PID: as those of a
    controller. ROTATION: as torques. UNKNOWN: nobody can say, and the compiler refuses.
    """

    AFFINE = enum.auto()
    MUSCLE = enum.auto()
    PID = enum.auto()
    ROTATION = enum.auto()
    UNKNOWN = enum.auto()


class DynType(IntEnum):
    NONE = 0
    INTEGRATOR = 1
    FILTER = 2
    FILTEREXACT = 3
    MUSCLE = 4
    DCMOTOR = 5
    PID = 6
    USER = 7


class _Law(IntEnum):
    """A type of gain or bias; parameters: how its parameters change with the units."""

    parameters: Parameters

    def __new__(cls, number: int, parameters: Parameters) -> "_Law":
        member = int.__new__(cls, number)
        member._value_ = number
        member.parameters = parameters
        return member


class GainType(_Law):
    FIXED = 0, Parameters.AFFINE
    AFFINE = 1, Parameters.AFFINE
    MUSCLE = 2, Parameters.MUSCLE
    DCMOTOR = 3, Parameters.UNKNOWN
    SO3 = 4, Parameters.ROTATION
    PID = 5, Parameters.PID
    USER = 6, Parameters.UNKNOWN


class BiasType(_Law):
    NONE = 0, Parameters.AFFINE
    AFFINE = 1, Parameters.AFFINE
    MUSCLE = 2, Parameters.MUSCLE
    DCMOTOR = 3, Parameters.UNKNOWN
    SO3 = 4, Parameters.ROTATION
    USER = 5, Parameters.UNKNOWN
