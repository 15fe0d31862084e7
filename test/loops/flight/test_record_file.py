# SPDX-License-Identifier: Apache-2.0
import functools
import hashlib
import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.belief.motion_watch import Kept
from propulsion_ros.flight.events.events import EventRecord
from propulsion_ros.flight.events.permits import Speed
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark, Vertex
from propulsion_ros.flight.resumption import Snapshot
from propulsion_ros.loops.flight.record_file import (
    FlightRecord,
    OwedPulse,
    decode,
    encode,
    read_state,
)
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import replace_durably
from refusals import refusal

NS = st.integers(-(2**63), 2**63 - 1)
METRES = st.floats(-1e6, 1e6)
MARKS = st.none() | st.builds(Mark, NS, NS, st.text(max_size=10))
SNAPSHOTS = st.builds(
    Snapshot, NS, NS, st.sampled_from(Phase), st.booleans(), MARKS, MARKS, MARKS,
    st.lists(st.builds(EventRecord, st.integers(0, 99), NS, st.integers(0, 9)), max_size=4)
    .map(tuple),
    st.none() | st.builds(Vertex, NS, METRES), st.builds(
        Kept, st.booleans(), st.booleans(), st.floats(0.0, 1.0), METRES, st.floats(0.0, 20.0),
        st.tuples(*[st.integers(0, 10**10)] * 4),
    ),
    METRES, st.none() | st.builds(Speed, NS, METRES), NS, st.booleans(),
    st.none() | METRES, st.lists(st.integers(0, 9), max_size=3).map(tuple), st.none() | NS,
)
RECORDS = st.builds(
    FlightRecord, st.text(max_size=20), SNAPSHOTS, METRES | st.just(math.nan),
    st.tuples(METRES, METRES),
    st.lists(st.builds(
        OwedPulse, st.integers(0, 99), st.integers(0, 31), st.integers(1, 10**10),
        st.integers(1, 3),
    ), max_size=3).map(tuple),
    st.text(max_size=20), NS, st.lists(st.tuples(st.text(max_size=20), NS), max_size=3).map(tuple),
)
RECORD = FlightRecord(
    'abc', Snapshot(5, 3, Phase.RECOVERY, False, None, Mark(1, 1, 'climb'),
                    Mark(4, 2, 'detected'), (EventRecord(0, 1, 1),)),
    123.456, (1.5, -2.5), (OwedPulse(1, 0, 700, 2),), 'boot', 99, (('pressure', -5),),
)


@given(RECORDS)
def test_what_is_written_is_read(record):
    # As text, since NaN does not equal NaN.
    assert repr(decode(encode(record))) == repr(record)


def test_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / 'flight.json'
    assert read_state(path) is None
    for content in (encode(RECORD) + b' ' * 1000, encode(RECORD)):
        replace_durably(path, content)
        assert path.read_bytes() == content
    assert read_state(path) == RECORD
    assert [file.name for file in tmp_path.iterdir()] == ['flight.json']


def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / 'flight.json'
    replace_durably(path, encode(RECORD))

    def no_disk(descriptor):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr('os.fsync', no_disk)
    with pytest.raises(OSError, match='No space left'):
        replace_durably(path, b'new')
    assert read_state(path) == RECORD


def test_every_byte_counts():
    """No single changed byte is read as another record."""
    content = encode(RECORD)
    rng = random.Random(1)
    for i in range(len(content)):
        spoilt = content[:i] + bytes([content[i] ^ (1 << rng.randrange(7))]) + content[i + 1:]
        try:
            record = decode(spoilt)
        except SourceError:
            continue
        assert record == RECORD, i


@pytest.mark.parametrize(('change', 'error'), [
    pytest.param(lambda d: d.pop('flight'), 'flight: is missing', id='no flight'),
    pytest.param(
        lambda d: d.update(format='propulsion_ros flight record 1'),
        "format: 'propulsion_ros flight record 1' is of an older version and is not resumed",
        id='older version',
    ),
    pytest.param(
        lambda d: d.update(format='propulsion_ros flight record 3'),
        "format: 'propulsion_ros flight record 3' is of an older version and is not resumed",
        id='last version',
    ),
    pytest.param(lambda d: d.update(format='x'), "format: unknown 'x'", id='format'),
    pytest.param(lambda d: d['flight'].update(config='other'), 'sha256: is not that of the'
                 ' flight: the file is damaged', id='changed'),
    pytest.param(lambda d: d.update(more=1), 'more: unknown key', id='key'),
])
def test_what_is_no_record(change, error):
    document = json.loads(encode(RECORD))
    change(document)
    assert refusal(decode, json.dumps(document).encode()).startswith(error)


@pytest.mark.parametrize(('key', 'value', 'error'), [
    ('stamp_ns', 2**63, f'stamp_ns: expected .* to {2**63 - 1}, got'),
    ('speed', [1], 'speed: expected 2 values, got 1'),
    ('motion.wander', -1.0, 'motion.wander: -1 is below 0'),
    ('motion.held', 1.5, 'motion.held: 1.5 is above 1'),
    ('motion.usual_ns', [0] * 3, 'motion.usual_ns: expected 4 values, got 3'),
])
def test_value_that_no_flight_computer_writes_is_refused_with_its_place(key, value, error):
    document = json.loads(encode(RECORD))
    *path, last = key.split('.')
    functools.reduce(dict.get, path, document['flight']['snapshot'])[last] = value
    text = json.dumps(document['flight'], sort_keys=True)
    document['sha256'] = hashlib.sha256(text.encode()).hexdigest()
    with pytest.raises(SourceError, match=f'snapshot.{error}'):
        decode(json.dumps(document).encode())


@pytest.mark.parametrize(
    'content', [b'', b'null', b'[]', b'\xff\xfe', b'{' * 100_000, b'1' * 5000, b'{"flight": NaN}'],
    ids=lambda content: repr(content[:12]),
)
def test_any_bytes_are_refused_with_a_reason(content, tmp_path):
    path = tmp_path / 'flight.json'
    path.write_bytes(content)
    assert str(path) in refusal(read_state, path)


def test_folder_and_large_file_are_refused(tmp_path):
    with pytest.raises(SourceError, match='cannot be read'):
        read_state(tmp_path)
    path = tmp_path / 'large'
    path.write_bytes(b' ' * 1_000_001)
    with pytest.raises(SourceError, match='larger than 1000000 bytes'):
        read_state(path)
