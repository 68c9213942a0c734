"""Two models that differ in one joint: what is made for one does not fit the other."""

import mujoco

_ARM = """
<mujoco>
  <worldbody>
    <body pos="0 0 1"><joint name="h" axis="0 1 0"/><geom size=".1"/>MORE</body>
    <geom type="plane" size="5 5 .1"/>
  </worldbody>
  <actuator><motor joint="h"/></actuator>
</mujoco>
"""
SHORT = mujoco.MjModel.from_xml_string(_ARM.replace("MORE", ""))
LONG = mujoco.MjModel.from_xml_string(_ARM.replace("MORE", '<body><joint name="k"/><geom size=".1"/></body>'))
