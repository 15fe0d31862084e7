# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium with software WebGL, driven by the DevTools protocol through a pipe."""
from __future__ import annotations

import base64
import io
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time

import numpy as np

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
OPTIONS = (
    '--headless', '--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader', '--remote-debugging-pipe', '--window-size=1400,850',
    '--no-first-run', '--disable-background-networking', '--disable-component-update',
)
LIMIT = 120.0
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from 3 and writes to 4."""


def chromium():
    """Return the program: that of $CHROMIUM, else one on the path, None where there is none."""
    return os.environ.get('CHROMIUM') or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser of its own.

    Attributes
    ----------
    errors : list of str
        What the page has written to the console as an error, or thrown.
    requests : list of str
        Addresses that it asked for.
    """

    def __init__(self, folder):
        self.errors, self.requests = [], []
        self._numbers = itertools.count(1)
        self._waiting, self._unread = [], b''
        theirs, ours = os.pipe(), os.pipe()
        words = [chromium(), *OPTIONS, f'--user-data-dir={folder}', 'about:blank']
        self._process = subprocess.Popen(
            [sys.executable, '-c', _START, str(theirs[0]), str(ours[1]), *words],
            pass_fds=(theirs[0], ours[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs[0])
        os.close(ours[1])
        self._out, self._in = theirs[1], ours[0]
        self._session = None
        targets = self.call('Target.getTargets')['targetInfos']
        target = next(each['targetId'] for each in targets if each['type'] == 'page')
        self._session = self.call(
            'Target.attachToTarget', targetId=target, flatten=True
        )['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')

    def close(self):
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def call(self, method, **params):
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        message = {'id': number, 'method': method, 'params': params}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._out, json.dumps(message).encode() + b'\0')
        while True:
            reply = self._next()
            if reply.get('id') == number:
                if 'error' in reply:
                    raise RuntimeError(f'{method}: {reply["error"]}')
                return reply['result']
            self._note(reply)

    def open(self, address, until='(document.documentElement || {dataset: {}}).dataset.state'):
        """Open an address and wait until an expression is true."""
        self.call('Page.navigate', url=address)
        return self.wait(until)

    def wait(self, expression, limit=LIMIT):
        """Wait until an expression is true, and return its value."""
        end = time.monotonic() + limit
        while not (value := self.run(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f'{expression} is not true: {self.errors}')
            time.sleep(0.1)
        return value

    def run(self, expression):
        """Return the value of an expression in the page."""
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f'{expression}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def picture(self, path=None):
        """Return what is seen as an array (height, width, 3); write it where a path is given."""
        from PIL import Image

        data = base64.b64decode(self.call('Page.captureScreenshot', format='png')['data'])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert('RGB'))

    def _next(self):
        while b'\0' not in self._unread:
            if not select.select([self._in], [], [], LIMIT)[0]:
                raise TimeoutError('the browser does not reply')
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError('the browser has ended')
            self._unread += part
        message, _, self._unread = self._unread.partition(b'\0')
        return json.loads(message)

    def _note(self, event):
        params = event.get('params', {})
        if event['method'] == 'Runtime.exceptionThrown':
            details = params['exceptionDetails']
            shown = details.get('exception', {}).get('description', details)
            self.errors.append(str(shown)[:500])
        elif event['method'] == 'Runtime.consoleAPICalled' and params['type'] == 'error':
            self.errors.append(str(params['args'])[:500])
        elif event['method'] == 'Log.entryAdded' and params['entry']['level'] == 'error':
            self.errors.append(params['entry']['text'])
        elif event['method'] == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])
