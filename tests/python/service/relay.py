"""A relay for tests that count the bytes of connections."""

from __future__ import annotations

import socket
import threading


class Relay:
    """Accepts connections, forwards them to an address, and counts the bytes of each direction."""

    def __init__(self, to):
        self.to_there = self.from_there = 0
        self._to, self._open, self._threads = to, [], []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._begin(self._accept)

    def _accept(self):
        while True:
            try:
                near = self._listener.accept()[0]
            except OSError:
                return
            self._open.append(near)
            far = socket.create_connection(self._to)
            self._open.append(far)
            for source, sink, back in ((near, far, False), (far, near, True)):
                self._begin(self._pass_on, source, sink, back)

    def _pass_on(self, source, sink, back):
        try:
            while data := source.recv(1 << 16):
                if back:
                    self.from_there += len(data)
                else:
                    self.to_there += len(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _begin(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def close(self):
        # The threads end before the sockets are closed: otherwise a thread could read from a new socket that got the
        # descriptor of a closed one.
        for one in (self._listener, *self._open):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads:
            thread.join(10)
        for one in (self._listener, *self._open):
            one.close()
