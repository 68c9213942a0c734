"""A plot of one sensor over the last seconds."""

from typing import Any

import numpy as np

from mjx_like.types.model import Model

KEPT = 300  # values of each component
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")


class SensorPlot:
    """A plot beside the picture, and the choice of a sensor."""

    def __init__(self, gui: Any, m: Model):
        self._gui, self._m, self._values, self._times = gui, m, [], []
        names = [m.sensor(index).name or f"sensor {index}" for index in range(m.nsensor)]
        with gui.add_folder("Sensors", expand_by_default=False):
            self._choice = gui.add_dropdown("Sensor", ("none", *names), initial_value="none")
            self._slot = gui.add_folder("Plot")
        self._names, self._chart, self._drawn = names, None, "none"

    def add(self, seconds: float, values: np.ndarray) -> None:
        """Keep the readings of a moment [s], shape (nsensordata,), and draw those of the sensor that is chosen."""
        if self._times and seconds <= self._times[-1]:
            if seconds == self._times[-1]:
                return
            self._times.clear(), self._values.clear()
        self._times.append(seconds)
        self._values.append(np.asarray(values, float))
        del self._times[:-KEPT], self._values[:-KEPT]
        if self._choice.value != self._drawn:
            self._open(self._choice.value)
        if self._chart is not None:
            self._chart.data = self._data()

    def _data(self) -> tuple[np.ndarray, ...]:
        index = self._names.index(self._drawn)
        start, count = int(self._m.sensor_adr[index]), int(self._m.sensor_dim[index])
        rows = np.array(self._values)[:, start : start + count]
        return np.array(self._times), *(np.ascontiguousarray(column) for column in rows.T)

    def _open(self, name: str) -> None:
        from viser import uplot

        if self._chart is not None:
            self._chart.remove()
        self._chart, self._drawn = None, name
        if name == "none":
            return
        data = self._data()
        series = [uplot.Series(label="s")]
        for number in range(len(data) - 1):
            series.append(uplot.Series(label=str(number), stroke=_COLORS[number % len(_COLORS)], width=1))
        with self._slot:
            self._chart = self._gui.add_uplot(
                data, tuple(series), scales={"x": uplot.Scale(time=False, auto=True)}, aspect=1.5
            )
