"""Iterators that several threads read, restore and close."""

from __future__ import annotations

import signal

from programs import finish, start


def test_ThreadsReadWhileOthersRestoreSaveAndClose():
    # The program runs in another process, so that threads which hang end with that process.
    child = start("""
        import threading
        import headrace as hr

        ds = hr.Dataset.range(1000).map(lambda x: x + 1).batch(7)
        it = iter(ds)
        record = it.save()
        over = threading.Event()
        wrong = []

        def read():
            while not over.is_set():
                x = next(it, None)
                if x is not None and (x[1:] != x[:-1] + 1).any():
                    wrong.append(x)

        def restore():
            for i in range(300):
                it.restore(record)
                if i % 10 == 9:
                    it.close()
            over.set()

        def save():
            while not over.is_set():
                try:
                    ds.restore(it.save()).close()
                except hr.errors.FailedPreconditionError:
                    pass  # closed

        threads = [threading.Thread(target=f) for f in (read, read, read, read, restore, save)]
        for t in threads: t.start()
        for t in threads: t.join()
        it.restore(record)
        print(not wrong and sum(len(x) for x in it))
    """)
    assert finish(child)[:2] == (0, "1000\n")


def test_CtrlCEndsTheWaitForATurn():
    child = start("""
        import threading
        import headrace as hr
        dispatcher = hr.service.DispatchServer()
        it = iter(hr.Dataset.range(5).apply(hr.service.distribute("off", dispatcher.target)))
        other = threading.Thread(target=next, args=(it,), daemon=True)
        other.start()
        try:
            print("waiting", flush=True)
            next(it)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
        other.join()
        print(len(list(it)))
    """)
    assert child.stdout.readline() == "waiting\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert finish(child)[:2] == (0, "4\n")
