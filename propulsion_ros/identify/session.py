# SPDX-License-Identifier: Apache-2.0
"""A fit from files to its report."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.identify.advice import (
    clip_doubts,
    command_doubts,
    correlations,
    explained,
    form_doubts,
    geometry_doubts,
    limit_doubts,
    ratio_doubts,
    refuse_degrees,
    remarks,
    scale_doubts,
    span_doubts,
    still_doubts,
    tare_doubts,
    unidentified,
    whiteness_of,
    without_spikes,
)
from propulsion_ros.identify.candidates import Candidates
from propulsion_ros.identify.coast import START_CLIMB, coast_of
from propulsion_ros.identify.fit import Fit, Progress, Search, fitted, fitted_coarse, stepped
from propulsion_ros.identify.free import (
    BODY,
    DELAY,
    check_start,
    delay,
    free_parameters,
    over_throttle,
)
from propulsion_ros.identify.prepare import SLOW, prepared
from propulsion_ros.identify.problem import Problem, Setup, rms
from propulsion_ros.identify.reading import STATE, Names, Recording, Span, read_recording
from propulsion_ros.identify.robot import OF_TABLE, VEHICLE, Robot
from propulsion_ros.identify.validation import (
    Variant,
    cross_validated,
    recommended,
    spread_by_parts,
    variants,
)
from propulsion_ros.models.common.family import battery_names
from propulsion_ros.replay.ulog_reader import UNMAPPED, UlogMap
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import known_hint
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.settings.yaml_file import write_parameters

_TORQUE_KEYS = ('moment_constant', 'ixx', 'iyy', 'izz', 'position', 'axis')
_OF_COAST = 'body.drag_area'
_WORSE = 1.05  # ratio of errors that longer time steps, as of cross-validation, stay below
_DELAYS = (0.0, 0.01, 0.02)  # for which lags are reported [s]
_REFITS = 3  # Gauss-Newton steps of the other parameters at each delay
_PARTS_DIFFER = 3.0
"""Jackknife spread over standard deviation; with noise alone 1 in 1000 is above 2.2."""


@dataclass(frozen=True)
class Request:
    """Inputs and options of a fit."""

    input: Path
    fit: Sequence[str]
    measured: str
    span: Span = (None, None)
    """First and last stamp that count [s]."""
    checks: Sequence[tuple[Path, Span]] = ()
    """Recordings, and their spans, that are predicted without a fit to them."""
    fit_delay: bool = False
    delay: float = 0.0
    """Fixed time from a command until the actuator takes it [s]."""
    choose: bool = False
    motors: UlogMap = UNMAPPED
    """Actuators that are the motors of PX4 logs."""

    def __post_init__(self) -> None:
        if not np.isfinite(self.delay):
            raise SourceError('--delay', f'expected seconds, got {self.delay:g}')


@dataclass
class Result:
    """Result of a fit, or with ``--choose`` of the recommended model."""

    report: dict[str, Any]
    fit: Fit
    problem: Problem
    """Comparison with all parameters of ``--fit``; ``fit`` has those that are not held."""
    robot: str = ''
    """Name of the robot."""
    before: list[Any] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)
    """Predictions of each channel before and after the fit, (n,) each."""
    chosen: Variant | None = None
    """Recommended model; None without ``--choose``."""


class Session:
    """A robot and the recordings that are compared with its model.

    ``warn`` receives what is wrong with the input before the fit, which may take long.
    """

    def __init__(
        self, robot: Robot, request: Request, note: Progress = lambda what: None,
        warn: Progress = lambda line: None,
    ) -> None:
        self._robot, self._request, self._note, self._warn = robot, request, note, warn
        setting = robot.setting
        self._names = Names({}, (), robot.columns)
        if request.measured == 'odometry':
            if list(request.fit) != [_OF_COAST]:
                raise SourceError(
                    '--fit', f'with --measured odometry only {_OF_COAST} can be fitted, from a '
                    'coast; give --measured imu, state or wrench for actuators'
                )
            return
        if setting is None:
            raise SourceError('--fit', 'name the group of actuators, as in <group>.time_constant')
        self._family = setting.family_type
        model = setting.build_family()
        fields = dict(zip(model.command_names, model.command_fields, strict=True))
        # A joint without a command holds its position.
        self._actuators = [name for name in model.actuator_names if name in fields]
        for motor, target in request.motors.actuators.items():
            if target.group == robot.group and target.name not in fields:
                hint = known_hint(target.name, fields)
                raise SourceError('--map', f'{motor}: {robot.group} has no {target.name!r}{hint}')
        self._names = Names(
            fields,
            tuple(model.state_names), robot.columns, robot.group,
            tuple(model.actuator_names) if 'tank' in robot.values else (),
            robot.params.thrust_area,
            battery_names(model) if hasattr(model, 'measure_supply') else (),
        )

    def run(self) -> Result:
        """Fit the recording; raise `ConfigError` if that cannot be done."""
        request, robot = self._request, self._robot
        self._note('read')
        recording, found = self._read(request.input, request.span)
        names = list(request.fit) + [DELAY] * request.fit_delay
        free = free_parameters(
            names, robot.group, robot.schema, robot.values, robot.properties
        )
        check_start(robot.values, free)
        for each in free if request.choose else ():
            if each.is_curve and each.row >= 0:
                raise SourceError('--choose', f'compares one curve for all, got {each.name!r}')
        if request.measured == 'odometry':
            problem, more = coast_of(recording, free[0], robot.body, robot.vehicle, request.span)
            found += more
        else:
            lags = [each.name for each in free if each.is_lag or each.owner == DELAY]
            if recording.is_settled and lags:
                raise SourceError(recording.name, (
                    f'has rows more than {SLOW:g} s apart, each taken as settled, which show no '
                    f'lag: leave {", ".join(lags)} out of --fit; or are stamps not in seconds?'
                ))
            problem = Problem(self._setup(recording, free))
            problem, spikes = without_spikes(problem)
            found += spikes
            if problem.setup.kind == 'imu':
                refuse_degrees(problem)
            found += command_doubts(recording, self._actuators)
            found += limit_doubts(recording, problem.model)
        before = problem.given
        of_scale = list(scale_doubts(problem, before))
        found += (named := of_scale or list(tare_doubts(problem, before)))
        found += [*still_doubts(problem, before), *span_doubts(problem)]
        for line in found:
            self._warn(line)
        fit, asked = fitted(problem, self._note), problem
        models = self._variants(fit, found) if request.choose else []
        chosen = recommended(models) if models else None
        if chosen:
            # What is reported is the model that is written.
            fit, asked = fitted(chosen.problem, self._note, chosen.place), chosen.problem
        fit, unknown = shown(fit, self._note)
        after = [rows[0] for rows in fit.problem.predicted(fit.place[None])]
        is_of_forces = request.measured in ('wrench', 'state')
        clipped = clip_doubts(fit.problem, after, robot.values) if is_of_forces else ()
        sizes = list(clipped) or list(ratio_doubts(fit, after))
        found += sizes or ([] if named else tare_doubts(fit.problem, before, fit))
        found += [f'{each.name}: {each.note}' for each in fit.problem.free if each.note]
        result = Result({}, fit, asked, robot.name, before, after, chosen)
        result.report |= self._report(result, unknown, found, bool(of_scale), bool(sizes))
        result.report |= {'models': _choice(models, chosen)} if request.choose else {}
        return result

    def write(self, path: Path, result: Result) -> None:
        """Write the parameter file of what a result, or the recommended model, does not hold."""
        robot, fit, chosen = self._robot, result.fit, result.chosen
        unknown = result.report['unidentified']
        still = unidentified(fit)
        known = [each for each in fit.problem.free if not still.keys() >= {*each.names}]
        fixed = chosen.fixed if chosen else {}
        changed = {**fixed, **(fit.problem.changes(fit.place) if known else {})}
        body = fit.problem.body_at(fit.place)
        lines = [f'Fitted by propulsion_ros identify to {self._request.input.name}.']
        lines += [f'The model that --choose recommends: {chosen.name}.'] if chosen else []
        beside = {name for each in known for name in each.names}
        lines += [f'{name}: not identified{", fitted to the others" * (name in beside)}.'
                  for name in sorted(unknown)]
        vehicle: dict[str, Any] = {}
        for each in known:
            if each.owner == BODY:
                key = each.keys[0]
                if each.name == _OF_COAST:
                    areas = np.zeros(3) + np.ravel(robot.vehicle.get(_OF_COAST, [0.0]))
                    areas[-1] = body[key]
                    vehicle[_OF_COAST] = areas.tolist()
                    continue
                if each.name != START_CLIMB:
                    lines.append(f'{each.name} = {body[key]:.6g} {each.unit} belongs into the '
                                 'robot description.')
            elif each.owner == DELAY:
                lines.append(f'delay = {body[DELAY]:.4f} s from a command until it acts; no model '
                             'has it.')
        changes = {robot.group: changed, VEHICLE: vehicle}
        write_parameters(path, robot.file, {
            node: _plain(values) for node, values in changes.items() if values
        }, lines, width=100, without=OF_TABLE)

    def _read(self, path: Path, span: Span) -> tuple[Recording, list[str]]:
        recording = read_recording(path, self._names, self._request.motors)
        if self._request.measured == 'state':
            recording = self._of_states_it_has(recording)
        largest = 1.0 if self._robot.values.get('command_interface') == 'throttle' else np.nan
        return prepared(
            recording, self._request.measured, span, largest,
            # A burning motor is never settled.
            may_be_steady=not self._names.burners,
        )

    def _of_states_it_has(self, recording: Recording) -> Recording:
        """Return a recording without states that no model predicts, as angles of a propeller."""
        candidates = Candidates(self._family, self._robot.values)
        return dataclasses.replace(recording, measured={
            name: series for name, series in recording.measured.items()
            if not name.startswith(STATE) or candidates.predicts(name.removeprefix(STATE))
        })

    def _setup(self, recording: Recording, free: Sequence[Any]) -> Setup:
        robot, request = self._robot, self._request
        states = [
            name.removeprefix(STATE) for name in recording.measured if name.startswith(STATE)
        ] if request.measured == 'state' else []
        moments = any(key in _TORQUE_KEYS for each in free for key in each.keys)
        if request.measured == 'imu' and robot.body.mass <= 0.0:
            raise SourceError(
                'mass', 'the robot description has none; weigh the robot, and give identify: mass'
            )
        return Setup(
            recording, Candidates(self._family, robot.values, states), tuple(free), robot.body,
            request.measured, fluid=robot.fluid, imu_position=robot.params.imu_position,
            delay=request.delay, moments=moments,
        )

    def _report(
        self, result: Result, unknown: dict[str, str], found: list[str], is_scaled: bool,
        is_sized: bool,
    ) -> dict[str, Any]:
        fit, problem = result.fit, result.fit.problem
        values = {**self._robot.values, **(result.chosen.fixed if result.chosen else {})}
        found += [] if is_scaled else remarks(fit)
        found += geometry_doubts(fit)
        squares, spread = self._cross_validated(fit, found)
        numbers = np.stack((fit.values, fit.sd, spread), axis=1).tolist()
        rows = dict(zip(problem.names, numbers, strict=True)) | dict.fromkeys(unknown, [np.nan] * 3)
        units = [unit for each in result.problem.free
                 for unit in each.units or [each.unit] * len(each.start)]
        report: dict[str, Any] = {
            'estimates': {name: {
                **dict(zip(('value', 'sd', 'sd_of_parts'), map(_finite, rows[name]), strict=True)),
                'unit': unit,
            } for name, unit in zip(result.problem.names, units, strict=True)},
            'rms': problem.main_rms(fit.residuals), 'unit': problem.channels[0].unit,
            'check_rms': None, 'rms_before': problem.main_rms(problem.left_by(result.before)),
            'cross_validation_rms': _finite(float(np.sqrt(np.mean(squares)))),
            'rms_of': problem.rms_of(fit.residuals),
            'explained': {name: round(share, 4) for name, share in explained(fit).items()},
            'delay': problem.body_at(fit.place)[DELAY],
            'curves': dict(_curves(fit, values)),
            'correlations': correlations(fit),
            'whiteness': whiteness_of(fit),
            'unidentified': unknown,
            'seconds': round(_seconds(problem.channels[0].time), 2),
        }
        if (report['cross_validation_rms'] or 0.0) > _WORSE * report['rms_before']:
            found.append(
                f'left-out parts are {report["cross_validation_rms"]:.3g} {report["unit"]} off, '
                f'before the fit {report["rms_before"]:.3g}: it is worse than what it began with'
            )
        self._check(fit, report, found)
        known = len(found)
        report['delays'] = []
        if any(each.is_lag for each in problem.free):
            # Lags and delays can replace each other.
            self._note('delays')
            report['delays'] = delay_profile(fit, found)
        # A prediction of another size or delay leaves correlated residuals, too.
        if not (is_scaled or is_sized or found[known:]):
            found += form_doubts(fit, values, self._request.choose)
        alike = dict[str, list[str]]()
        for name, why in unknown.items():
            # In another unit every parameter looks unexcited.
            alike.setdefault('see its unit' if is_scaled else why, []).append(name)
        found += [f'{", ".join(names)}: not identified: {why}' for why, names in alike.items()]
        report['warnings'] = found
        return report

    def _cross_validated(self, fit: Fit, found: list[str]) -> tuple[FloatArray, FloatArray]:
        """Return squared errors of left-out parts, and spreads of estimates; NaN for a burn."""
        problem = fit.problem
        if any('motor_file' in each.keys for each in problem.free):
            found.append(
                'cross-validation: none, as each point of a thrust_curve shows in its moment alone'
            )
            return np.full(1, np.nan), np.full(len(fit.place), np.nan)
        self._note('cross-validation')
        squares = cross_validated(Search(problem.coarse()), fit.place)
        spread = spread_by_parts(fit)
        for i, (name, sd, by_parts) in enumerate(
            zip(problem.names, fit.sd, spread, strict=True)
        ):
            if by_parts > _PARTS_DIFFER * sd and not problem.free_of(i).is_curve:
                found.append(
                    f'{name}: parts of the recording differ by more than noise: its standard '
                    f'deviation is {by_parts:.2g} by them, {sd:.2g} by the residuals'
                )
        return squares, spread

    def _check(self, fit: Fit, report: dict[str, Any], found: list[str]) -> None:
        """Predict the recordings of ``--check``, and report the errors."""
        checks = []
        for path, span in self._request.checks:
            self._note(f'check {path.name}')
            recording, doubts = self._read(path, span)
            other = Problem(dataclasses.replace(fit.problem.setup, recording=recording))
            residuals = other.residuals(fit.place[None])[0]
            checks.append((other.main_rms(residuals), len(other.channels[0].time)))
            found += [f'{path.name}: {line}' for line in doubts]
        if checks:
            squares = sum(error**2 * count for error, count in checks)
            report['check_rms'] = float(np.sqrt(squares / sum(count for _, count in checks)))
            report['checks'] = [
                {'file': path.name, 'from': span[0], 'to': span[1], 'rms': error}
                for (path, span), (error, _) in zip(self._request.checks, checks, strict=True)
            ]

    def _variants(self, fit: Fit, found: list[str]) -> list[Variant]:
        lags = [value for i, value in enumerate(fit.place) if fit.problem.free_of(i).is_lag]
        return variants(
            fit.problem, self._robot.group, self._robot.schema, self._robot.values,
            float(np.mean(lags or [0.0])), self._note, found,
        )


def shown(fit: Fit, note: Progress) -> tuple[Fit, dict[str, str]]:
    """Return a fit of what the data show, and why parameters are not identified.

    The others are held as they were, one after the other, so that of two that are known only
    together one is fitted to go with the other. Where nothing is known, and of a coast, none is.
    """
    why: dict[str, str] = {}
    while True:
        own, free = unidentified(fit), fit.problem.free
        why = {**own, **why}
        # A curve is known as a whole, even if one of its numbers is not.
        unknown = [each for each in free if own.keys() >= {*each.names}]
        if not 0 < len(unknown) < len(free) or fit.problem.setup.candidates is None:
            return fit, why
        # First what no parameter file has, then single numbers; of equals the last.
        held = min(reversed(unknown), key=lambda each: (each.owner not in (BODY, DELAY),
                                                        len(each.start)))
        problem = fit.problem.with_free([each for each in free if each is not held])
        fit = fitted(problem, note, fit.place[[fit.problem.free_of(i) is not held
                                               for i in range(len(fit.place))]])


def _curves(fit: Fit, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield fitted thrust curves over the throttle, if both are polynomials."""
    for each in fit.problem.free:
        if each.keys[0] == 'thrust_curve' and (
            factors := over_throttle({**values, **fit.problem.changes(fit.place)}, max(each.row, 0))
        ):
            yield each.name, {'over': 'throttle', 'unit': 'N', 'coefficients': factors}


def _choice(models: Sequence[Variant], chosen: Variant | None) -> dict[str, Any]:
    """Return the section of a report on the models and the recommended one."""
    return {} if chosen is None else {
        'recommended': chosen.name,
        'variants': {
            each.name: {
                'cross_validation_rms': each.rms, 'rms': each.training,
                'numbers': len(each.place), 'estimates': each.estimates,
                'parameters': _plain(each.parameters),
            } for each in models
        },
    }


def delay_profile(fit: Fit, found: list[str]) -> list[dict[str, float]]:
    """Return lags and error at some delays, and append a warning of a time offset to ``found``."""
    problem = fit.problem
    with_delay = [each for each in problem.free if each.owner != DELAY]
    start = fit.place[[problem.free_of(i).owner != DELAY for i in range(len(fit.place))]]
    free_delay = dataclasses.replace(
        delay(), lower=np.array([-0.15]), upper=np.array([0.15]), start=np.array([0.0])
    )
    other = problem.with_free([*with_delay, free_delay])
    search, place = fitted_coarse(other, np.append(start, 0.0))
    now = rms(search.residuals(np.append(start, problem.body_at(fit.place)[DELAY])))
    then = rms(search.residuals(place))
    best = float(place[-1])
    if then < 0.9 * now and abs(best) > 0.004:
        what, remedy = (
            'leads its command by', f'stamps of commands are late, as where a row has the one '
            f'before; no delay is fitted below 0: --delay {best:.3f}'
        ) if best < 0.0 else (
            'follows its command by', 'a delay, or a clock offset between commands and sensor: '
            '--fit-delay'
        )
        found.append(
            f'what was measured {what} {abs(best) * 1e3:.0f} ms, {1 - then / now:.0%} better so: '
            f'{remedy}'
        )
    return _at_delays(search, place, (*_DELAYS, best))


def _at_delays(
    search: Search, place: FloatArray, delays: Sequence[float]
) -> list[dict[str, float]]:
    """Return lags and error at each of some delays; the last parameter is the delay."""
    problem, places = search.problem, np.tile(place, (len(delays), 1))
    places[:, -1] = delays
    for _ in range(_REFITS):
        for at, (residuals, jacobian) in zip(places, search.at_all(places), strict=True):
            jacobian[:, -1] = 0.0  # The delay is held.
            at[:] = stepped(problem, at, residuals, jacobian)
    rows = []
    for at, (residuals, _) in zip(places, search.at_all(places), strict=True):
        estimates = problem.estimates(at)
        rows.append({
            'delay': float(at[-1]), **{
                name: float(estimates[i]) for i, name in enumerate(problem.names)
                if problem.free_of(i).is_lag
            }, 'rms': problem.main_rms(residuals),
        })
    return rows


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _seconds(time: Any) -> float:
    step = np.diff(time)
    return float(step[step < 5.0 * np.median(step)].sum()) if len(step) else 0.0


def _plain(value: Any) -> Any:
    """Return a value in types that YAML can represent."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    # No fit is more precise than seven digits.
    return float(f'{value:.7g}') if isinstance(value, float) else value
