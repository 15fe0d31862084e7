# SPDX-License-Identifier: Apache-2.0
import pytest

from propulsion_ros.models.body.simulated_body import Parachutes, ParachutesParams

SECOND = 10**9
START = 1_700_000_000 * SECOND
"""A stamp of a real clock: near it a float holds no nanoseconds."""


def parachutes(**kwargs) -> Parachutes:
    return Parachutes(ParachutesParams(**{
        'names': ['drogue', 'main'], 'drag_area': [1.0, 10.0],
        'deployment_delay': [0.5, 1.0], 'inflation_time': [2.0, 4.0], **kwargs,
    }))


@pytest.mark.parametrize(
    ('after', 'area'),
    [
        pytest.param(-1.0, 0.0, id='before the firing'),
        pytest.param(0.0, 0.0, id='at the firing'),
        pytest.param(0.499999999, 0.0, id='just before the line stretches'),
        pytest.param(0.5, 0.0, id='stretched'),
        pytest.param(1.0, 0.25, id='a quarter'),
        pytest.param(1.5, 0.5, id='half'),
        pytest.param(2.5, 1.0, id='open'),
        pytest.param(1e6, 1.0, id='long after'),
    ],
)
def test_area_grows_linearly_after_the_delay(after, area):
    model = parachutes()
    model.fire('drogue', START)
    assert model.drag_area(START + round(after * SECOND)) == pytest.approx(area, abs=1e-9)


def test_open_areas_add_up():
    model = parachutes()
    model.fire('drogue', START)
    model.fire('main', START + SECOND)
    assert model.drag_area(START + 4 * SECOND) == pytest.approx(1.0 + 10.0 * 0.5, rel=1e-12)


def test_shortest_delay_and_reset():
    model = parachutes()
    assert model.delay_ns == SECOND // 2
    model.fire('main', START)
    model.reset()
    assert model.drag_area(START + 100 * SECOND) == 0.0


@pytest.mark.parametrize(('canopy', 'area'), [
    pytest.param([''], 1.0, id='each its own'),
    pytest.param(['drogue', '', 'drogue'], 0.5, id='a backup of the first'),
    pytest.param(['a', 'b', 'b'], 1.0, id='a backup of another one'),
])
def test_backup_charges_free_one_canopy(canopy, area):
    chutes = parachutes(
        names=('drogue', 'main', 'backup'), drag_area=[0.5, 5.0, 0.5], canopy=tuple(canopy),
        deployment_delay=[0.5], inflation_time=[0.5],
    )
    assert chutes.fire('drogue', 0)
    assert chutes.fire('backup', 2_000_000_000) is (area > 0.5)
    assert chutes.drag_area(10_000_000_000) == pytest.approx(area)
