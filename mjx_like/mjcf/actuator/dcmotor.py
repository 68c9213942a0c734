"""The dcmotor shortcut: data sheet values to the parameter vectors of a general actuator.

Layout: gainprm R, K, tempcoef, reftemp, kp, ki, kd, Vmax; biasprm cogging amplitude, poles, phase, Coulomb, static,
Stribeck; dynprm electrical time constant, current rate, thermal resistance, thermal capacitance, ambient, bristle
stiffness, bristle damping, slewmax, Imax. Source: mjs_setToDCMotor.
"""

from typing import Any

import numpy as np

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k

SIZES = {
    "motorconst": 2,
    "nominal": 3,
    "saturation": 3,
    "inductance": 2,
    "cogging": 3,
    "controller": 6,
    "thermal": 6,
    "lugre": 5,
}


def read_dcmotor(record: dict[str, Any]) -> dict[str, Any]:
    """Parameters that a dcmotor inherits from a record."""
    g, b, d = record["gainprm"], record["biasprm"], record["dynprm"]
    low, high = record["forcerange"]
    torque = high if record["forcelimited"] == "true" and high > 0 and low == -high else 0.0
    return {
        "motorconst": np.array([g[1], 0.0]),
        "resistance": g[0],
        "saturation": np.array([torque, 0.0, d[1]]),
        "inductance": np.array([0.0, d[0]]),
        "cogging": b[:3],
        "controller": np.array([g[4], g[5], g[6], d[7], d[8], g[7]]),
        "thermal": np.array([d[2], d[3], 0.0, g[2], g[3], d[4]]),
        "lugre": np.array([d[5], d[6], b[3], b[4], b[5]]),
    }


def motor_constants(element: Element, p: dict[str, Any], viscous: float, passive: bool) -> tuple[float, float]:
    """Resistance R [Ohm] and motor constant K [Nm/A] from what is given of them and of the nominal point."""
    resistance = p.get("resistance", 0.0)
    torque_constant, emf_constant = p["motorconst"]
    voltage, stall, no_load = p["nominal"]
    if voltage > 0 and emf_constant <= 0 and no_load > 0:
        emf_constant = voltage / no_load
        if viscous > 0 and resistance > 0:
            disc = voltage**2 - 4 * resistance * viscous * no_load**2
            emf_constant = (voltage + np.sqrt(disc)) / (2 * no_load) if disc > 0 else emf_constant
        elif viscous > 0 and stall > 0:
            exact = emf_constant - voltage * viscous / stall
            emf_constant = exact if exact > 0 else emf_constant
    if torque_constant > 0 and emf_constant > 0:
        constant = np.sqrt(torque_constant * emf_constant)
    else:
        constant = torque_constant if torque_constant > 0 else emf_constant
    if resistance == 0 and voltage > 0 and stall > 0 and constant > 0:
        resistance = constant * voltage / stall
    if constant < 0 or (constant == 0 and not passive):
        raise element.error("needs a positive motor constant: give 'motorconst' or 'nominal'")
    if resistance <= 0:
        raise element.error("needs a positive resistance: give 'resistance' or 'nominal'")
    return float(resistance), float(constant)


def thermal_constants(element: Element, thermal: np.ndarray) -> tuple[float, float]:
    """Thermal resistance and capacitance from any two of resistance, capacitance and time constant."""
    resistance, capacitance, time = thermal[:3]
    if time > 0 and resistance > 0:
        capacitance = time / resistance
    elif time > 0 and capacitance > 0 and resistance == 0:
        resistance = time / capacitance
    if resistance <= 0 or capacitance <= 0:
        raise element.error("attribute 'thermal' needs two of resistance, capacitance and time constant")
    return float(resistance), float(capacitance)


def dcmotor(element: Element, record: dict[str, Any], p: dict[str, Any]) -> None:
    """Write a dcmotor's parameters into a record that was reset."""
    p = p | {name: np.resize(np.append(p.get(name, ()), np.zeros(size)), size) for name, size in SIZES.items()}
    passive = p["ctrlspec"] == k.INPUT_NONE["none"]
    resistance, constant = motor_constants(element, p, record["damping"][0], passive)
    gain, bias, dynamics = np.zeros(10), np.zeros(10), np.zeros(10)
    kp, ki, kd, slewmax, integral_max, voltage_max = p["controller"]
    gain[:2] = resistance, constant
    gain[4:8] = kp, ki, kd, max(voltage_max, 0.0)
    dynamics[7:9] = slewmax, integral_max
    bias[:3] = p["cogging"]
    inductance, electrical = p["inductance"]
    if inductance < 0 or electrical < 0:
        raise element.error("attribute 'inductance' has a negative number, must not be negative")
    dynamics[0] = inductance / resistance if inductance > 0 else electrical
    dynamics[1] = max(p["saturation"][2], 0.0)
    states = int(dynamics[0] > 0) + int(slewmax > 0) + int(ki > 0)
    if (p["thermal"][:3] > 0).any():
        dynamics[2:4] = thermal_constants(element, p["thermal"])
        gain[2:4] = p["thermal"][3:5]
        dynamics[4] = p["thermal"][5]
        states += 1
    if p["lugre"][0] > 0:
        dynamics[5:7] = p["lugre"][:2]
        bias[3:6] = p["lugre"][2:]
        states += 1
    limit_force(element, record, p["saturation"], constant)
    record.update(
        gaintype="dcmotor", biastype="dcmotor", dyntype="dcmotor", gainprm=gain, biasprm=bias, dynprm=dynamics
    )
    record.update(actdim=states, actlimited="false", actearly=True, ctrlspec=p["ctrlspec"])


def limit_force(element: Element, record: dict[str, Any], saturation: np.ndarray, constant: float) -> None:
    """Turn the torque or current limit into forcerange; a limit that is given replaces an inherited one."""
    torque, current = saturation[:2]
    if "saturation" in element.attrib:
        record.update(forcerange=np.zeros(2), forcelimited="auto")
    if torque > 0 or current > 0:
        torque = torque if torque != 0 else constant * current
        record.update(forcerange=np.array([-torque, torque]), forcelimited="true")
