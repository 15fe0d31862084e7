# SPDX-License-Identifier: Apache-2.0
"""Serves one page, and the data that it draws, to browsers of this machine."""
from __future__ import annotations

import contextlib
import hmac
import ipaddress
import queue
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from propulsion_ros.settings.errors import SourceError

LOOPBACK = '127.0.0.1'
PAGES = 8
"""Most pages that are open at once."""
_KEEP_ALIVE = 2.0  # time between two signs of life, by which a closed page is found [s]
_TIMEOUT = 10.0  # longest time of a request, and for a page to receive data [s]


class Server:
    """A page at a URL with a token, and a stream of events for it.

    Only GET is served, so that a page can change nothing. A request from another site has another
    origin or host and is refused, as is one without the token.

    Parameters
    ----------
    html : str
        The page.
    address : str
        Address of this machine; any but the loopback can be reached from outside.
    port : int
        Port; 0 for any that is free.

    Raises
    ------
    SourceError
        If the address cannot be used.
    """

    def __init__(self, html: str, address: str = LOOPBACK, port: int = 0) -> None:
        self.html, self._token = html.encode(), secrets.token_urlsafe(24)
        self._streams: set[queue.Queue[bytes | None]] = set()
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            owner = server

        try:
            self._http = ThreadingHTTPServer((address, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, 'strerror', None) or error
            raise SourceError(f'{address}:{port}', f'cannot be served: {reason}') from error
        self._http.daemon_threads = True
        self._address, self._port = address, int(self._http.server_address[1])
        threading.Thread(target=self._http.serve_forever, args=(0.2,), daemon=True).start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f'http://{self._address}:{self._port}/?token={self._token}'

    @property
    def pages(self) -> int:
        """Number of open pages."""
        return len(self._streams)

    def send(self, text: str) -> None:
        """Send one line to every page; a slow page misses some."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            _put(stream, text.encode())

    def close(self) -> None:
        """End every stream and the server."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            _put(stream, None)
        self._http.shutdown()
        self._http.server_close()

    # Used by the handler.

    def refusal(self, host: str, origin: str | None, token: str) -> HTTPStatus | None:
        """Return why a request is refused, None if it is not."""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return HTTPStatus.FORBIDDEN
        if origin is not None and origin != f'http://{host}':
            return HTTPStatus.FORBIDDEN
        # This excludes a name that another site has made to point here (DNS rebinding).
        own = {f'{name}:{self._port}' for name in (self._address, 'localhost')}
        if is_loopback(self._address) and host not in own:
            return HTTPStatus.FORBIDDEN
        return None

    def add_stream(self) -> queue.Queue[bytes | None] | None:
        """Return a stream for one more page, None if there are too many."""
        with self._lock:
            if len(self._streams) >= PAGES:
                return None
            stream: queue.Queue[bytes | None] = queue.Queue(3)
            self._streams.add(stream)
            return stream

    def forget(self, stream: queue.Queue[bytes | None]) -> None:
        """Remove the stream of a page that is closed."""
        with self._lock:
            self._streams.discard(stream)


def _put(stream: queue.Queue[bytes | None], line: bytes | None) -> None:
    """Put a line into a stream, in place of its oldest one if it is full, so as not to block."""
    if stream.full():
        with contextlib.suppress(queue.Empty):
            stream.get_nowait()
    stream.put(line)


def is_loopback(address: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    if address == 'localhost':
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


class _Handler(BaseHTTPRequestHandler):
    owner: Server
    timeout = _TIMEOUT
    server_version, sys_version = 'propulsion_ros', ''

    def do_GET(self) -> None:
        """Reply to a request."""
        address = urlsplit(self.path)
        token = parse_qs(address.query).get('token', [''])[0]
        refusal = self.owner.refusal(
            self.headers.get('Host', ''), self.headers.get('Origin'), token
        )
        if refusal is not None:
            self.send_error(refusal)
        elif address.path == '/':
            self._begin('text/html; charset=utf-8', len(self.owner.html))
            self.wfile.write(self.owner.html)
        elif address.path == '/events':
            self._stream()
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _begin(self, kind: str, length: int | None = None) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header('Content-Type', kind)
        if length is not None:
            self.send_header('Content-Length', str(length))
        for name, value in (
            ('Cache-Control', 'no-store'), ('Referrer-Policy', 'no-referrer'),
            ('X-Content-Type-Options', 'nosniff'), ('X-Frame-Options', 'DENY'),
            ('Cross-Origin-Resource-Policy', 'same-origin'),
        ):
            self.send_header(name, value)
        self.end_headers()

    def _stream(self) -> None:
        stream = self.owner.add_stream()
        if stream is None:
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        try:
            self._begin('text/event-stream')
            while True:
                try:
                    line = stream.get(timeout=_KEEP_ALIVE)
                except queue.Empty:
                    line = b''
                if line is None:
                    return
                self.wfile.write(b'data: ' + line + b'\n\n' if line else b':\n\n')
                self.wfile.flush()
        except OSError:
            # The page is closed, or does not receive.
            return
        finally:
            self.owner.forget(stream)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, as a URL has the token."""
