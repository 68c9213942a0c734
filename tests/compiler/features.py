"""One small model a feature of the language that the compiler must turn into MuJoCo's arrays."""

ARM = """
<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" range="-30 60"/><geom name="ga" type="capsule" size=".05 .2"/>
 <site name="s1" pos=".1 0 .2"/>
 <body name="b" pos="0 0 -.4" quat="1 .2 0 0"><joint name="k" type="slide" axis="1 0 0" range="-.1 .2"/>
  <geom name="gb" type="box" size=".05 .04 .1" pos=".01 .02 .03"/><site name="s2" pos="0 .1 0"/>
  <body name="c" pos="0 0 -.2"><joint name="m" type="ball" range="0 50"/><geom name="gc" size=".05" pos="0 0 -.1"/>
   <site name="s3"/><camera name="cam" pos="0 0 1"/></body></body></body>
"""


def arm(rest: str, head: str = "", world: str = "") -> str:
    """Return a model of a three-link arm with more sections."""
    return f"<mujoco>{head}<worldbody>{world}{ARM}</worldbody>{rest}</mujoco>"


SIMPLE = """<mujoco><worldbody><body><joint type="slide"/><joint type="slide" axis="1 0 0"/>
  <geom type="box" size=".1 .2 .3"/></body><body pos="1 0 0"><joint type="slide"/><joint axis="1 0 0"/>
  <geom type="box" size=".1 .2 .3"/></body><body pos="1 0 0"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
  <body><joint type="slide" armature="1"/><geom size=".1"/></body><body><body><joint name="q" type="slide"/>
  <geom size=".1"/><site name="a"/></body></body><site name="b" pos="1 1 1"/></worldbody><tendon>
  <fixed armature=".1"><joint joint="q" coef="1"/></fixed><spatial armature=".1"><site site="a"/><site site="b"/>
  </spatial></tendon></mujoco>"""

FEATURES = {
    "empty": "<mujoco/>",
    "joints": """<mujoco><worldbody>
      <body name="f" pos="1 2 3" quat="1 1 0 0"><freejoint name="free" group="2"/><geom size=".1"/>
       <body><joint type="hinge" ref="10" springref="20" stiffness="1 2 3" damping="1 .5 .1" frictionloss=".1"
        armature=".2" solreffriction=".03 .9" solimpfriction=".8" range="-10 20" margin=".1" solreflimit=".01"
        group="3" actuatorfrcrange="-1 2" actuatorgravcomp="true" pos="0 .1 0" axis="1 1 0"/>
        <joint type="slide" axis="0 1 1" ref=".3" range="-1 1" springref=".1"/><geom size=".1 .1 .2"
       type="box"/></body>
       <body pos="0 0 1"><joint type="ball" damping=".1" range="0 40" springyield="10"/><geom
       size=".1"/></body></body>
      <body pos="0 1 0"><joint type="slide" springyield=".2" stiffness="3"/><joint type="hinge" springyield="10"/>
       <geom size=".2"/></body>
      <body pos="0 2 0"><joint type="free" damping=".3" limited="true" range="0 1" pos="1 0 0" axis="1 0 0"/>
       <geom size=".2"/></body></worldbody></mujoco>""",
    "radian": """<mujoco><compiler angle="radian" eulerseq="ZYx"/><worldbody>
      <body euler=".1 .2 .3"><joint range="-.1 .2" ref=".1"/><geom size=".1" axisangle="1 1 0 .5"/></body>
      </worldbody></mujoco>""",
    "orientations": """<mujoco><compiler eulerseq="yZx"/>
      <default><geom euler="10 20 30"/><default class="z"><geom zaxis="1 2 3"/></default></default><worldbody>
      <geom size=".1" axisangle="1 2 3 40"/><geom size=".1" euler="10 20 30"/><geom size=".1" xyaxes="1 1 0 0 1 1"/>
      <geom size=".1" zaxis="1 1 1"/><geom size=".1" zaxis="0 0 -1"/><geom size=".1" quat="1 2 3 4"/>
      <geom size=".1"/><geom size=".1" class="z"/><geom size=".1" class="z" quat="1 0 0 1"/>
      <body euler="10 0 0"><inertial pos="0 0 1" mass="2" diaginertia="1 2 2.5" euler="0 30 0"/></body>
      <body xyaxes="0 1 0 -1 0 .1"><site zaxis="0 1 1"/><camera euler="1 2 3"/></body>
      <body xyaxes="0 0 1 0 -1 0"/><body xyaxes="-1 0 0 0 1 0"/><body xyaxes="-1 0 0 0 -1 0"/>
      </worldbody></mujoco>""",
    "shapes": """<mujoco><worldbody>
      <geom type="plane" size="0 0 .1"/><geom type="sphere" size=".1"/><geom type="capsule" size=".1 .2"/>
      <geom type="cylinder" size=".1 .2"/><geom type="ellipsoid" size=".1 .2 .3"/><geom type="box" size=".1 .2 .3"/>
      <geom type="capsule" size=".1" fromto="0 0 0 1 2 3"/><geom type="box" size=".1" fromto="0 0 0 0 0 1"/>
      <geom type="ellipsoid" size=".1" fromto="1 1 1 1 1 0"/><geom type="cylinder" size=".1" fromto="0 0 1 0 1 0"/>
      <site type="capsule" size=".01" fromto="0 0 0 1 0 0"/><site type="box" size=".1 .2 .3" rgba="1 0 0 .5"/>
      <site/><site size=".2"/><site type="ellipsoid" size=".1 .2 .3" group="3"/></worldbody></mujoco>""",
    "geom_attributes": """<mujoco><worldbody><geom size=".1" contype="2" conaffinity="3" condim="6" group="2"
       priority="1"
      friction=".5" solmix="2" solref=".03" solimp=".8 .9" margin=".02" gap=".01" rgba=".1 .2 .3 .4" castshadow="false"
      surfacevel="1 2 3" adhesion=".3" user="1 2"/><geom size=".1" friction="1 2 3"
       user="5"/></worldbody></mujoco>""",
    "fluid": """<mujoco><option density="1" viscosity=".1" wind="1 0 0"/><worldbody><body><freejoint/>
      <geom type="ellipsoid" size=".1 .2 .3" fluidshape="ellipsoid" fluidcoef="1 2 3"/></body>
      <body pos="1 0 0"><freejoint/><geom type="capsule" size=".1 .2"
       fluidshape="ellipsoid"/></body></worldbody></mujoco>""",
    "inertia": """<mujoco><worldbody>
      <body><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/><geom type="capsule" size=".1 .4" euler="30
       0 0"/></body>
      <body><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="10 20 30"/></body>
      <body><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 0" mass="2"/><geom size=".1" mass="0"/></body>
      <body><freejoint/><geom type="box" size=".1 .2 .3" density="500"/><geom size=".1" pos="1 0 0" mass="3"/></body>
      <body><freejoint/><inertial pos="1 2 3" mass="2" fullinertia="2 3 4 .1 .2 .3"/><geom size=".1"/></body>
      <body><freejoint/><inertial pos="1 2 3" quat="1 1 0 0" mass="2" diaginertia="1 2 2.5"/></body>
      <body pos="1 2 3"><geom size=".1" mass="0"/></body><body pos="3 2 1" euler="20 0 0"/>
      <body><freejoint/><body pos=".1 0 0"><geom size=".1"/></body></body></worldbody></mujoco>""",
    "shell": """<mujoco><default><geom shellinertia="true"/></default><worldbody><body><freejoint/>
      <geom size=".1"/><geom type="capsule" size=".1 .2" pos="1 0 0"/><geom type="cylinder" size=".1 .3" pos="0 1 0"/>
      <geom type="box" size=".1 .2 .3" euler="10 20 30"/></body>
      <body><freejoint/><geom type="cylinder" size=".1 .3"/></body></worldbody></mujoco>""",
    "inertia_settings": """<mujoco><compiler inertiagrouprange="1 2" boundmass=".5" boundinertia=".01"
      balanceinertia="true"/><worldbody><body><freejoint/><geom size=".1" group="1"/><geom size=".3"
       group="3"/></body>
      <body><freejoint/><inertial pos="0 0 0" mass=".1" diaginertia="1 1 3"/></body><body/></worldbody></mujoco>""",
    "inertia_from_geom": """<mujoco><compiler inertiafromgeom="true"/><worldbody>
      <body><freejoint/><inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/><geom size=".1" pos="0 0 1"/></body>
      <body><inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>""",
    "no_inertia_from_geom": """<mujoco><compiler inertiafromgeom="false"/><worldbody>
      <body pos="0 0 1"><geom size=".1"/></body></worldbody></mujoco>""",
    "settotalmass": """<mujoco><compiler settotalmass="5"/><worldbody><body><joint/><geom size=".1"/></body>
      <body><joint/><geom size=".1"/><geom size=".1" pos="1 0 0"/></body></worldbody></mujoco>""",
    "alignfree": """<mujoco><compiler alignfree="true"/><worldbody><body pos="1 0 0" euler="0 90 0"><freejoint/>
      <geom size=".1 .2 .3" type="box"/><geom size=".05" pos=".1 .2 .3"/><site pos="1 1 1" euler="10 0 0"/><camera/>
      <light dir="1 0 0"/></body><body><freejoint align="false"/><geom size=".1" pos="1 0 0"/></body>
      <frame pos="1 0 0" euler="0 0 90"><body pos="0 2 0"><joint type="free"/><geom size=".1" pos="0 1
       0"/></body></frame>
      </worldbody></mujoco>""",
    "frames": """<mujoco><default><default class="red"><geom rgba="1 0 0 1"/></default></default><worldbody>
      <frame pos="1 0 0" euler="0 0 90" childclass="red"><geom size=".1" pos="0 1 0"/>
       <frame pos="0 1 0" quat="1 1 0 0"><body pos="0 0 1"><joint axis="1 0 0"/><geom size=".1"/></body>
        <site pos="1 2 3"/><camera pos="0 0 1"/><light pos="0 1 0" dir="1 0 0"/></frame>
       <body><geom type="capsule" size=".1" fromto="0 0 0 1 0 0"/></body></frame>
      <body><frame pos="0 0 1" euler="90 0 0"><joint axis="0 1 0" pos="0 1 0"/><joint type="slide"/>
        <geom size=".1" pos="0 0 1"/><geom size=".2" pos=".5 0 1"/></frame></body></worldbody></mujoco>""",
    "tree": """<mujoco><worldbody><body name="x"><geom size=".1"/><body><joint/><geom size=".1"/><body><geom
       size=".1"/>
      </body><body><joint/><joint type="slide"/><geom size=".1"/></body></body></body>
      <body name="m" mocap="true" pos="1 2 3"><geom size=".1"/><body name="mm" pos="0 0 1"><geom
       size=".1"/></body></body>
      <body gravcomp=".5" user="1 2 3"><freejoint/><geom size=".1"/><body user="4"><body><geom
       size=".1"/></body></body></body>
      </worldbody></mujoco>""",
    "cameras_lights": """<mujoco><visual><map znear=".02"/></visual><worldbody><camera/>
      <camera name="x" mode="targetbody" target="b" pos="1 2 3" fovy="30" ipd=".1" resolution="20 10" user="1"/>
      <camera sensorsize=".1 .2" focal=".3 .4" resolution="10 20" principal="0.01 .02" output="rgb depth"/>
      <camera sensorsize=".1 .2" focalpixel="3 4" resolution="10 20" principalpixel="1 2" projection="orthographic"/>
      <camera sensorsize="1 2" resolution="10 20" focal="3 4" focalpixel="0 6" principal=".1 .2" principalpixel="3
       0"/>
      <light/><light directional="true" dir="0 1 2" castshadow="false"/><light type="point" cutoff="30"
       active="false"/>
      <light type="spot" bulbradius=".1" intensity="3" range="5" attenuation="1 2 3" exponent="4" ambient=".1 .2 .3"
       diffuse=".4 .5 .6" specular=".7 .8 .9" softness=".3" mode="targetbodycom" target="b"/>
      <body name="b" pos="0 1 0"><freejoint/><geom size=".1"/><geom size=".2" pos="1 1 1"/><camera mode="trackcom"
       pos="1 1 1"/>
       <light mode="track" pos="0 0 1"/></body></worldbody></mujoco>""",
    "contact": """<mujoco><default><pair solref=".1" friction=".3"/></default><worldbody><geom name="g" size=".1"/>
      <body name="a"><joint/><geom name="ga" size=".1" margin=".1"/></body><body name="b"><joint/><geom name="gb"
       size=".1"/>
      </body><body name="c"><joint/><geom name="gc" size=".1"/></body></worldbody><contact>
      <pair geom1="gc" geom2="ga" name="late"/><pair geom1="gb" geom2="g" condim="1" margin=".2" gap=".1"
       adhesion=".1"
       solreffriction=".2 .3" solimp=".5" friction="1 2 3 4 5" name="early"/><pair geom1="ga" geom2="gb"/>
      <exclude body1="c" body2="a" name="e"/><exclude body1="world" body2="b"/></contact></mujoco>""",
    "equality": arm("""<equality><connect body1="a" body2="b" anchor=".1 .2 .3"/><connect body1="c" anchor="0 0 1"
       active="false"/>
      <connect site1="s1" site2="s2"/><weld body1="a" body2="c"/><weld body1="b" relpose="1 2 3 1 0 0 0" anchor=".1
       0 0"
      torquescale=".5"/><weld site1="s1" site2="s3" solref=".05" solimp=".7 .8"/><joint joint1="j" joint2="k"
      polycoef="1 2 3"/><joint joint1="k"/><tendon tendon1="t" name="te"/><tendon tendon1="t" tendon2="u"
       polycoef="0 2"/>
      </equality><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed><fixed name="u"><joint joint="k"
       coef="2"/>
      </fixed></tendon>"""),
    "tendons": arm(
        """<tendon><fixed name="t" range="-1 1" stiffness="2" springlength=".1" limited="true" armature=".1"
      damping="1 2" frictionloss=".2" user="1" springyield=".1"><joint joint="j" coef="1.5"/><joint joint="k"
       coef="-2"/></fixed>
      <spatial name="u" width=".01" rgba="1 0 0 1" range="0 2" springlength=".1 .5" margin=".1" material="mat"
       actuatorfrcrange="-1 1" solreflimit=".1" solimplimit=".5" solreffriction=".2" solimpfriction=".6" group="2">
       <site site="s1"/><site site="s2"/><pulley divisor="2"/><site site="s2"/><site site="s3"/></spatial>
      <spatial name="v" stiffness="1"><site site="s1"/><site site="s3"/></spatial></tendon>""",
        head='<asset><material name="mat"/></asset>',
    ),
    "actuators": arm("""<tendon><fixed name="t" range="-1 1"><joint joint="j" coef="1"/></fixed></tendon><actuator>
      <motor name="mo" joint="j" gear="2" ctrlrange="-1 1" forcerange="-2 2" group="2" user="1 2"/>
      <position joint="j" kp="3" kv="2" ctrlrange="-1 1"/><position joint="k" kp="3" dampratio="1" timeconst=".2"
       inheritrange="1"/>
      <velocity joint="j" kv="2"/><intvelocity joint="j" kp="2" actrange="-1 1"/><intvelocity joint="k"
       inheritrange=".5"/>
      <damper joint="j" kv="1" ctrlrange="0 2"/><cylinder joint="k" area="2" bias="1 2 3" timeconst="2"/>
      <cylinder joint="k" diameter=".2"/><muscle tendon="t" lengthrange="0 1" tausmooth=".1"/>
      <muscle joint="j" lengthrange="0 1" force="3" timeconst=".1 .2"/><adhesion body="c" gain="2" ctrlrange="0 1"/>
      <general joint="m" gear="1 2 3" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="3 2 1"
       dyntype="filter"
       dynprm=".3" actlimited="true" actrange="-1 1" actearly="true"/><general tendon="t" dyntype="integrator"/>
      <general jointinparent="m" gear="0 0 1"/><motor site="s1" gear="1 2 3 4 5 6"/><motor site="s1" refsite="s3"
       gear="0 1 0 0 0 1"/>
      <position tendon="t" inheritrange="1" kp="2"/><general cranksite="s3" slidersite="s1" cranklength=".7"/>
      <motor joint="j" damping="1 2 3" armature=".2"/><motor joint="k" nsample="4" delay=".01" interp="linear"/>
      <general joint="j" dyntype="user" actdim="3" dynprm="1 2 3" gaintype="user" biastype="user"/></actuator>"""),
    "servos": arm("""<actuator><pid joint="j" kp="3" kv="1" posrange="-1 1" velrange="-2 2"/><pid joint="j" ki="1"
       imax=".5"
      slewmax="2" input="pos ff" ffrange="-3 3" kp="2" dampratio="1" nsample="3" delay=".004"/>
      <orientation joint="m" kp="2" kv=".1" ctrlrange="-1 1" forcerange="0 3"/><orientation joint="m" input="quat"/>
      <dcmotor joint="j" motorconst=".1" resistance="2"/><dcmotor joint="j" resistance="2" input="none"/>
      <dcmotor joint="k" motorconst=".1" resistance="2" input="pos vel" ctrlrange="-1 1" controller="1 2 3 4 5 6"/>
      <dcmotor joint="k" motorconst=".1" resistance="2" inductance=".1" thermal="1 2" lugre="1 2 3 4 5"
       saturation="1 2 3" nsample="3"/><motor joint="j"/></actuator>"""),
    "actuator_defaults": arm(
        '<actuator><motor joint="j"/><position joint="j"/><general joint="j"/>'
        '<velocity joint="j" class="c"/></actuator>',
        head="""<default><position kp="5" ctrlrange="-1 1"/><default class="c"><velocity
       kv="3"/></default></default>""",
    ),
    "length_range": arm(
        '<tendon><fixed name="t" range="-1 1"><joint joint="j" coef="1"/></fixed></tendon>'
        '<actuator><muscle joint="j" gear="-2"/><muscle tendon="t"/></actuator>',
        head='<compiler><lengthrange uselimit="true"/></compiler>',
    ),
    "sensors": arm("""<tendon><fixed name="t" range="-1 1"><joint joint="j" coef="1"/></fixed></tendon>
      <actuator><motor name="mo" joint="j"/></actuator><sensor><touch site="s1" noise=".1" cutoff="2" user="1"/>
      <accelerometer site="s1"/><velocimeter site="s1"/><gyro site="s1"/><force site="s2"/><torque site="s2"/>
      <magnetometer site="s1"/><camprojection site="s1" camera="cam"/><rangefinder site="s1"/>
      <rangefinder site="s1" data="dist dir normal"/><rangefinder camera="cam" data="depth"/><jointpos joint="j"
       name="jp"/>
      <jointvel joint="k"/><tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="mo"/>
      <actuatorvel actuator="mo"/><actuatorfrc actuator="mo"/><jointactuatorfrc joint="j"/><tendonactuatorfrc
       tendon="t"/>
      <ballquat joint="m"/><ballangvel joint="m"/><jointlimitpos joint="j"/><jointlimitvel joint="m"/>
      <jointlimitfrc joint="k"/><tendonlimitpos tendon="t"/><tendonlimitvel tendon="t"/><tendonlimitfrc tendon="t"/>
      <framepos objtype="body" objname="a"/><framequat objtype="xbody" objname="b" reftype="site" refname="s1"/>
      <framexaxis objtype="geom" objname="gc"/><frameyaxis objtype="camera" objname="cam"/>
      <framezaxis objtype="site" objname="s2" reftype="geom" refname="ga"/><framelinvel objtype="site" objname="s2"/>
      <frameangvel objtype="body" objname="b" reftype="camera" refname="cam"/><framelinacc objtype="site"
       objname="s3"/>
      <frameangacc objtype="body" objname="c"/><subtreecom body="a"/><subtreelinvel body="b"/><subtreeangmom
       body="c"/>
      <insidesite site="s1" objtype="body" objname="c"/><distance geom1="ga" geom2="gc" cutoff="1"/>
      <normal body1="a" geom2="gc"/><fromto geom1="ga" body2="c" cutoff=".5"/><contact/>
      <contact geom1="ga" data="found force pos normal tangent" num="3" reduce="mindist"/><contact body1="a"
       body2="c"/>
      <contact subtree1="b" data="dist"/><contact site="s1" subtree2="c" data="torque" reduce="netforce"/>
      <e_potential/><e_kinetic/><clock nsample="5" interval=".1"/><user dim="3" datatype="axis" needstage="vel"/>
      <user dim="2" objtype="body" objname="a" user="1 2 3"/><jointpos joint="j" nsample="3" delay=".01"
       interp="cubic"
       interval=".02 -.01"/></sensor>"""),
    "keyframes": """<mujoco><worldbody><body name="m" mocap="true" pos="1 2 3" euler="10 0 0"><geom size=".1"/></body>
      <body pos="0 0 1"><freejoint/><geom size=".1"/></body><body><joint name="j" ref="20"/><geom size=".1"/></body>
      </worldbody><actuator><general joint="j" dyntype="filter"/><motor joint="j"/></actuator><keyframe>
      <key name="k" time="2" qpos="1 2 3 2 0 0 1 .5" qvel="1 2 3 4 5 6 7" act=".3" ctrl=".1 .2" mpos="3 2 1"
       mquat="2 0 0 1"/>
      <key/><key qpos="1 2"/></keyframe><size nkey="5"/></mujoco>""",
    "plastic": arm(
        """<tendon><fixed name="t" springyield=".1" stiffness="1"><joint joint="j" coef="2"/></fixed><spatial
       springyield=".2"><site site="s1"/><site site="s3"/></spatial></tendon><keyframe><key/><key plastic="7"/>
       </keyframe>""",
        world="""<body pos="0 1 0"><joint type="ball" springyield="9"/><geom size=".1"/><body><joint springyield="1"
       springref="20"/><geom size=".1"/></body></body>""",
    ),
    "custom": arm("""<custom><numeric name="n" data="1 2 3"/><numeric name="o" size="4" data="5"/><text name="t"
       data="hello"/>
      <text name="u" data="x"/><tuple name="v"><element objtype="body" objname="b" prm="2"/><element objtype="geom"
      objname="ga"/></tuple></custom>"""),
    "user_sizes": """<mujoco><size nuser_body="3" nuser_jnt="1" nuser_geom="2" nuser_site="4" nuser_cam="1"
       nuser_tendon="2"
      nuser_actuator="1" nuser_sensor="2" nuserdata="7" memory="1M"/><worldbody><body user="1"><joint user="2"/>
      <geom size=".1" user="3"/><site user="4 5"/><camera/></body></worldbody></mujoco>""",
    "options": """<mujoco><option timestep=".01" impratio="3" tolerance="1e-6" ls_tolerance=".1"
       noslip_tolerance="1e-5"
      ccd_tolerance="1e-7" gravity="1 2 3" wind="4 5 6" magnetic="7 8 9" density="2" viscosity="3" o_margin=".1"
      o_solref=".1 .2" o_solimp=".5 .6" o_friction="1 2 3 4 5" integrator="implicitfast" cone="elliptic"
       jacobian="sparse"
      solver="CG" iterations="7" ls_iterations="8" noslip_iterations="9" ccd_iterations="10" sdf_iterations="11"
      sdf_initpoints="12" actuatorgroupdisable="0 3"><flag contact="disable" gravity="disable" energy="enable"
      override="enable" multiccd="disable" refsafe="enable" fwdinv="disable"
       eulerdamp="disable"/></option></mujoco>""",
    "statistic": arm("", head='<statistic extent="3" meaninertia="2" center="1 2 3" meanmass="4" meansize="5"/>'),
    "statistic_some": arm("", head='<statistic extent="3"/>'),
    "materials": """<mujoco><asset><texture name="t" type="2d" builtin="checker" width="10" height="20" rgb1="1 0 0"/>
      <texture type="skybox" builtin="gradient" width="8" height="8"/><texture name="c" builtin="flat" width="4"
       colorspace="sRGB"/>
      <material name="m" texture="t" texrepeat="2 3" texuniform="true" emission=".1" specular=".2" shininess=".3"
      reflectance=".4" metallic=".5" roughness=".6" rgba="1 0 0 .5"/><material name="n"><layer texture="c"
       role="normal"/>
      <layer texture="t" role="rgb"/></material><material name="o"/></asset><worldbody><geom size=".1" material="m"/>
      <site material="n"/><light texture="c" type="image"/></worldbody></mujoco>""",
    "hfield": """<mujoco><asset><hfield name="h" nrow="2" ncol="3" size="1 2 .5 .1" elevation="1 2 3 4 5 7"/>
      <hfield name="flat" nrow="3" ncol="3" size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="h"
       pos="1 2 3"/>
      <body pos="0 0 3"><freejoint/><geom size=".1"/></body><geom type="hfield"
       hfield="flat"/></worldbody></mujoco>""",
    "skin": arm("""<deformable><skin name="sk" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2" texcoord="0 0 1 0 0 1"
       inflate=".1"
      group="2"><bone body="a" bindpos="1 2 3" bindquat="2 0 0 0" vertid="0 1" vertweight="1 2"/><bone body="b"
      bindpos="0 0 0" bindquat="1 0 0 1" vertid="1 2" vertweight="2 3"/></skin></deformable>"""),
    "springdamper": """<mujoco><worldbody><body><joint springdamper=".1 1"/><geom size=".1"/><body pos="1 0 0">
      <joint type="ball" springdamper=".2 .5"/><geom size=".1" pos="1 0 0"/></body></body></worldbody></mujoco>""",
    "limits": """<mujoco><compiler autolimits="false"/><worldbody><body><joint range="0 10" limited="true"/><joint
       type="slide"
      range="0 1" limited="false"/><geom size=".1"/></body></worldbody></mujoco>""",
    "replicate": """<mujoco><worldbody><replicate count="3" offset="0 1 0" euler="0 0 30"><body name="r" pos="1 0
       0"><joint name="q"/>
      <geom size=".1" name="g"/></body></replicate></worldbody></mujoco>""",
    "simple": SIMPLE,
    "not_simple": SIMPLE.replace("<body", '<body simple="false"'),
    "sleep": """<mujoco><worldbody><body sleep="never"><freejoint/><geom size=".1"/></body><body pos="1 0 0"><joint
       name="j"/>
      <geom size=".1"/></body><body pos="2 0 0"><joint/><geom size=".1"/></body></worldbody>
      <actuator><motor joint="j"/></actuator></mujoco>""",
}
