"""Stages of a step, forward and inverse."""

from mjx_like.actuator.stage import fwd_actuation as _fwd_actuation
from mjx_like.compat.mjx._src.types import adapted
from mjx_like.forward import forward as _forward
from mjx_like.forward import fwd_acceleration as _fwd_acceleration
from mjx_like.forward import fwd_position as _fwd_position
from mjx_like.forward import fwd_velocity as _fwd_velocity
from mjx_like.integrator.euler import euler as _euler
from mjx_like.integrator.implicitfast import implicitfast as _implicitfast
from mjx_like.inverse import inverse as _inverse
from mjx_like.step import rungekutta4 as _rungekutta4
from mjx_like.step import step as _step

forward = adapted(_forward)
fwd_position = adapted(_fwd_position)
fwd_velocity = adapted(_fwd_velocity)
fwd_actuation = adapted(_fwd_actuation)
fwd_acceleration = adapted(_fwd_acceleration)
euler = adapted(_euler)
implicit = adapted(_implicitfast)  # MJX's implicit is MuJoCo's implicitfast
rungekutta4 = adapted(_rungekutta4)
step = adapted(_step)
inverse = adapted(_inverse)
