# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from propulsion_ros.flight.events.events import Action
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec, IgniterSpec, ValveSpec
from propulsion_ros.settings.errors import CommandError

MS = 1_000_000
DEPLOYERS = (DeployerSpec(0, 'drogue'), DeployerSpec(1, 'door', 'local_servo', actuator='servo'))
ENGINE = EngineSpec(
    0, 'engine', IgniterSpec(500 * MS, channel=0), booster='b',
    thrust=100.0,
)
FIRE, OPEN = Action('deployment', 0, 1000.0), Action('deployment', 1, 90.0)
IGNITE, SHUT_DOWN = Action('engine', 0, 1.0), Action('engine', 0, 0.0)


@pytest.fixture
def actuators():
    actuators = Actuators(DEPLOYERS, [ENGINE])
    actuators.enter(Phase.FLIGHT, 0, arms_deployers=True)
    return actuators


@pytest.mark.parametrize('phase', [phase for phase in Phase if not phase.is_armed])
@pytest.mark.parametrize('action', [FIRE, OPEN, IGNITE], ids=str)
def test_nothing_moves_in_a_phase_that_is_not_armed(phase, action):
    actuators = Actuators(DEPLOYERS, [ENGINE])
    actuators.enter(phase, 0, arms_deployers=True)
    with pytest.raises(CommandError, match=r'refused: (the phase is not an armed one|not in fl)'):
        actuators.act(action, 0)
    assert not any(effort > 0 for effort in actuators.deployers.efforts(0))
    assert actuators.engines.thrusts() == {'b': 0.0}


def test_actions_reach_what_they_name(actuators):
    for action in (FIRE, OPEN, IGNITE, Action('command', 1, 2.0), Action('controller', 0, 1.0)):
        actuators.act(action, 0)
    assert actuators.deployers.efforts(0)[0] == 1.0
    assert actuators.deployers.positions()[1] == pytest.approx(math.pi / 2)
    assert actuators.engines.thrusts() == {'b': 100.0}
    actuators.act(SHUT_DOWN, 0)
    assert actuators.engines.thrusts() == {'b': 0.0}


def test_recovery_shuts_engines_down_and_pyros_may_still_fire(actuators):
    actuators.act(IGNITE, 0)
    actuators.enter(Phase.RECOVERY, 1, arms_deployers=True)
    assert actuators.engines.thrusts() == {'b': 0.0}
    actuators.act(FIRE, 1)
    assert actuators.deployers.efforts(1)[0] == 1.0


def test_the_way_back_to_the_pad_turns_all_off(actuators):
    actuators.act(FIRE, 0)
    actuators.act(IGNITE, 0)
    actuators.enter(Phase.PREFLIGHT, 1, arms_deployers=True)
    assert actuators.deployers.efforts(1)[0] == 0.0
    assert actuators.engines.thrusts() == {'b': 0.0}


def test_entering_a_phase_again_changes_nothing(actuators):
    actuators.act(IGNITE, 0)
    actuators.enter(Phase.FLIGHT, 1, arms_deployers=True)
    assert actuators.engines.thrusts() == {'b': 100.0}


@pytest.mark.parametrize('phase', [phase for phase in Phase if phase.is_armed])
def test_no_deployer_acts_without_permission_of_the_flight(phase):
    actuators = Actuators(DEPLOYERS, [ENGINE])
    actuators.enter(phase, 0, arms_deployers=False)
    for action in (FIRE, OPEN):
        with pytest.raises(CommandError, match='not in flight or recovery after a liftoff'):
            actuators.act(action, 0)
    actuators.enter(phase, 1, arms_deployers=True)
    actuators.act(FIRE, 1)
    assert actuators.deployers.efforts(1)[0] == 1.0


def test_engines_are_not_lit_in_recovery(actuators):
    actuators.enter(Phase.RECOVERY, 1, arms_deployers=True)
    with pytest.raises(CommandError, match='the ascent is over'):
        actuators.act(IGNITE, 1)
    assert actuators.engines.thrusts() == {'b': 0.0}


def test_setup_is_a_stop():
    valve = ValveSpec('vent', 0.0, math.pi)
    engine = EngineSpec(0, 'engine', ENGINE.igniter, (valve,))
    actuators = Actuators(DEPLOYERS, [engine])
    actuators.enter(Phase.LAUNCH, 0, arms_deployers=False)
    assert actuators.engines.rows(0)[-1].position == 0.0
    actuators.enter(Phase.SETUP, 1, arms_deployers=False)
    assert actuators.engines.rows(1)[-1].position == math.pi
