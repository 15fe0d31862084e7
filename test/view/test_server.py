# SPDX-License-Identifier: Apache-2.0
"""The live page: only who has its address gets it, and no page can send anything."""
from __future__ import annotations

import http.client
import time
from urllib.parse import urlsplit

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.view import server as module
from propulsion_ros.view.server import PAGES, Server, is_loopback


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(module, '_KEEP_ALIVE', 0.05)
    server = Server('<p>page</p>')
    try:
        yield server
    finally:
        server.close()


def request(server, path=None, method='GET', **headers):
    """Return a response, and its connection."""
    address = urlsplit(server.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10.0)
    own = f'/?{address.query}' if path is None else path
    connection.request(method, own, headers=headers)
    return connection.getresponse(), connection


def events(server):
    return request(server, f'/events?{urlsplit(server.url).query}')


def wait_until(condition):
    end = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_page_is_served_at_its_address(server):
    response, _ = request(server)
    assert (response.status, response.read()) == (200, b'<p>page</p>')
    assert response.headers['Referrer-Policy'] == 'no-referrer'
    assert response.headers['Cache-Control'] == 'no-store'
    assert 'Access-Control-Allow-Origin' not in response.headers


@pytest.mark.parametrize('path', ['/', '/?token=', '/?token=wrong', '/events', '/?token=%ff', '//'])
def test_nothing_is_served_without_the_token(server, path):
    response, _ = request(server, path)
    assert response.status == 403
    assert b'page' not in response.read()


@pytest.mark.parametrize('headers', [
    {'Origin': 'http://evil.example'}, {'Origin': 'null'}, {'Host': 'evil.example'},
    {'Host': 'evil.example', 'Origin': 'http://evil.example'}, {'Origin': 'https://{host}'},
])
def test_another_site_gets_nothing(server, headers):
    host = urlsplit(server.url).netloc
    given = {key: value.format(host=host) for key, value in headers.items()}
    assert request(server, **given)[0].status == 403


def test_the_page_itself_gets_its_events(server):
    host = urlsplit(server.url).netloc
    response, _ = request(server, Origin=f'http://{host}')
    assert response.status == 200


@pytest.mark.parametrize('method', ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])
def test_a_page_can_send_nothing(server, method):
    response, _ = request(server, method=method)
    assert response.status == 501


def test_pages_are_counted_while_they_are_open(server):
    assert server.pages == 0
    streams = [events(server) for _ in range(2)]
    wait_until(lambda: server.pages == 2)
    server.send('{"a":1}')
    for response, _ in streams:
        while (line := response.readline()) in (b':\n', b'\n'):
            pass
        assert line == b'data: {"a":1}\n'
    for response, connection in streams:
        response.close()
        connection.close()
    wait_until(lambda: server.pages == 0)


def test_too_many_pages_are_refused(server):
    streams = [events(server) for _ in range(PAGES)]
    wait_until(lambda: server.pages == PAGES)
    assert events(server)[0].status == 503
    assert len(streams) == PAGES


def test_a_slow_page_holds_nothing_up_and_the_end_waits_for_none(server):
    _, connection = events(server)
    wait_until(lambda: server.pages == 1)
    begun = time.monotonic()
    for _ in range(1000):
        server.send('x' * 100_000)
    server.close()
    assert time.monotonic() - begun < 5.0
    connection.close()


@pytest.mark.parametrize(('address', 'expected'), [
    ('127.0.0.1', True), ('::1', True), ('localhost', True), ('10.0.0.1', False),
    ('192.168.1.2', False), ('robot.example', False),
])
def test_what_this_machine_alone_can_reach(address, expected):
    assert is_loopback(address) is expected


@pytest.mark.parametrize(('address', 'port'), [('127.0.0.1', 70000), ('256.1.1.1', 0)])
def test_an_address_that_cannot_be_served_is_named(address, port):
    with pytest.raises(SourceError, match=f'{address}:{port}: cannot be served'):
        Server('', address, port)
