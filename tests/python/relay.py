"""A relay for tests of what goes over connections."""

from __future__ import annotations

import socket
import threading


class Relay:
    """Listens, passes on what comes to an address and from there, and counts the bytes of both ways."""

    def __init__(self, to):
        self.to_there = self.from_there = 0
        self._to, self._open = to, []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near = self._listener.accept()[0]
            except OSError:
                return
            far = socket.create_connection(self._to)
            self._open += [near, far]
            for source, sink, back in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pass_on, args=(source, sink, back), daemon=True).start()

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

    def close(self):
        for one in (self._listener, *self._open):
            one.close()
