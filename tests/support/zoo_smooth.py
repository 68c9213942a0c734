"""Models of the tests of the smooth stages: every joint type, body chain, camera and light mode, tendon, actuator."""

# ruff: noqa: E501

_BASE = """<mujoco><option gravity="1 2 -9.8" timestep="0.01"><flag energy="enable" contact="disable"/></option>
<worldbody><camera name="c0" pos="1 2 3" euler="10 20 30"/><light name="l0" pos="0 0 3" dir="1 0 -1"/><site name="w0" pos="0 0 1" euler="10 0 0"/>
<body name="free" pos="0 0 1" euler="10 20 30"><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="0 30 0"/><camera name="c1" mode="track" pos="1 0 0"/><camera name="c2" mode="trackcom" pos="1 0 0"/>
 <light name="l1" mode="track" pos="0 1 1"/><light name="l2" mode="trackcom" pos="0 1 1" dir="1 1 -1"/>
 <site name="s0" pos=".1 .2 .3" euler="30 20 0"/>
 <body name="ball" pos=".3 .1 0" euler="0 40 0"><joint name="ball" type="ball" pos=".1 0 .2"/><geom type="capsule" size=".05 .2" euler="0 0 30" pos="0 .1 0"/><camera name="c3" mode="targetbody" target="multi" pos="0 1 0"/><light name="l3" mode="targetbodycom" target="multi" pos="0 1 1"/>
  <body name="fixed" pos="0 .2 .1" euler="5 6 7"><geom type="sphere" size=".1"/><site name="s1" pos="0 .1 0" euler="0 0 45"/>
   <body name="multi" pos=".2 0 .1" euler="0 0 30"><joint name="s" type="slide" axis="1 1 0" pos=".1 .1 0"/><joint name="h" type="hinge" axis="0 1 1" pos="0 .1 0" ref="10"/><joint name="h2" type="hinge" axis="1 0 1" pos=".1 0 .1"/><geom type="cylinder" size=".05 .1"/><site name="s2" pos="0 0 .2" euler="20 0 45"/></body></body></body></body>
<body name="mocap" mocap="true" pos="1 0 0" euler="0 0 20"><geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/><camera name="c4" mode="targetbodycom" target="free"/><light name="l4" mode="targetbody" target="free" pos="0 0 2"/>
 <body name="onmocap" pos="0 0 .3"><joint name="m" type="hinge" axis="1 0 0"/><geom type="sphere" size=".1" pos="0 0 .1"/></body></body>
<body name="slidebase" pos="0 2 0"><joint name="x" type="slide" axis="1 0 0"/><joint name="bb" type="ball"/><geom type="sphere" size=".1" pos=".2 0 0"/><site name="s3" pos=".1 0 .1" euler="0 33 0"/></body>
<body name="empty" pos="3 3 3"><site name="s4"/></body>
</worldbody>%s</mujoco>"""

KINEMATICS = _BASE % ""

TENDONS = (
    _BASE.replace('type="ball" pos=".1 0 .2"', 'type="ball" pos=".1 0 .2" armature=".1"')
    % """<tendon>
<spatial name="t0" armature=".3"><site site="w0"/><site site="s0"/><site site="s1"/><site site="s2"/><pulley divisor="2"/><site site="w0"/><site site="s3"/><pulley divisor="3"/><site site="s1"/><site site="s3"/></spatial>
<fixed name="t1" armature=".2" stiffness="2 3 4" damping="1 2 3" springlength=".02 .3"><joint joint="s" coef="2"/><joint joint="h" coef="-1.5"/><joint joint="m" coef=".5"/></fixed>
<spatial name="t2" stiffness="3" damping=".5 .1 .2"><site site="s3"/><site site="s2"/></spatial>
<spatial name="t3" stiffness="3" springlength="0 .1"><site site="w0"/><site site="s4"/></spatial>
<fixed name="t4"><joint joint="h2" coef="1"/></fixed></tendon>
<actuator><motor tendon="t2" gear="2" armature=".5" damping="1 2 3"/><motor joint="h2" armature=".25" damping=".5 0 .1" gear="3"/></actuator>"""
)

ACTUATORS = (
    _BASE.replace('name="h2" type', 'name="h2" actuatorfrcrange="-.4 .3" type')
    % """<tendon><fixed name="t1" actuatorfrclimited="true" actuatorfrcrange="-.5 .8"><joint joint="s" coef="2"/><joint joint="h" coef="-1.5"/></fixed><spatial name="t2"><site site="s3"/><site site="s2"/></spatial></tendon>
<actuator>
<motor name="m0" joint="h" gear="2" ctrllimited="true" ctrlrange="-.5 .5"/>
<general name="m1" joint="ball" gear="1 2 3" gainprm="2" biastype="affine" biasprm=".1 -2 -.3"/>
<motor name="m2" jointinparent="ball" gear="1 2 3"/>
<position name="m3" joint="ball" gear="0 1 3" kp="3"/>
<motor name="m4" joint="bb" gear="3 2 1"/>
<general name="m5" tendon="t1" gear="2" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="1 2 3"/>
<motor name="m6" tendon="t1" gear="1"/>
<motor name="m7" tendon="t2" gear="-3"/>
<motor name="m8" site="s2" gear="1 2 3 4 5 6"/>
<general name="m9" site="s2" refsite="s0" gear="1 2 3 4 5 6" biastype="affine" biasprm="0 -3 -1"/>
<position name="m10" site="s3" refsite="s2" gear="0 0 0 1 2 .5" kp="5"/>
<general name="m11" joint="s" dyntype="integrator" gainprm="2" actlimited="true" actrange="-.3 .3" actearly="true"/>
<general name="m12" joint="s" dyntype="filter" dynprm=".2" gainprm="2"/>
<general name="m13" joint="s" dyntype="filterexact" dynprm=".05" gainprm="2" actearly="true" forcelimited="true" forcerange="-.1 .1"/>
<intvelocity name="m14" joint="bb" kp="4" gear="1 0 1" actrange="-20 20"/>
<velocity name="m15" joint="h2" kv="2"/>
<damper name="m16" joint="h2" kv="2" ctrlrange="0 1"/>
<cylinder name="m17" joint="s" timeconst=".1" area=".5" bias="1 2 3"/>
<motor name="m18" joint="m" group="4"/>
<general name="m19" joint="m" dyntype="filter" dynprm=".1" group="5"/>
<muscle name="m20" joint="m" lengthrange="-1 1" timeconst=".02 .05"/>
<muscle name="m21" joint="h" lengthrange="-.5 .7" force="30" tausmooth=".4"/>
</actuator>"""
)

PASSIVE = """<mujoco><option gravity="1 2 -9.8" density="1.3" viscosity=".2" wind="1 2 3"><flag energy="enable" contact="disable"/></option>
<worldbody><geom size=".1" fluidshape="ellipsoid"/><body pos="0 0 1" gravcomp=".4"><joint type="free" name="f" stiffness="1 2 3" damping=".1 .2 .3"/><geom type="box" size=".1 .2 .3"/>
<body pos=".3 .1 0" gravcomp="1"><joint name="b" type="ball" pos=".1 0 .2" stiffness="3 1 2" damping="1" actuatorgravcomp="true"/><geom type="capsule" size=".05 .2" fluidshape="ellipsoid" fluidcoef=".5 .25 1.5 1 1"/><geom type="box" size=".05 .2 .1" pos="0 0 .2" euler="10 20 3" fluidshape="ellipsoid"/>
<body pos=".3 .1 0"><joint name="h" stiffness="3 1 2" damping="1 2 3" springref="20"/><joint name="s" type="slide" stiffness="4" actuatorgravcomp="true"/><geom type="cylinder" size=".1 .2" fluidshape="ellipsoid"/>
<body pos=".1 0 0" gravcomp="2"><joint name="h2" damping="1" axis="1 0 0"/><geom type="sphere" size=".1" fluidshape="ellipsoid"/><geom type="ellipsoid" size=".1 .2 .3" pos="0 .2 .1" fluidshape="ellipsoid"/></body></body></body></body></worldbody><actuator><motor joint="h"/></actuator></mujoco>"""
