"""Threads that begin together."""

import threading

THREADS = 8


def at_once(work, threads=THREADS):
    """Runs `work(number)` on so many threads that begin together; what one of them raises is raised."""
    begin, failed = threading.Barrier(threads), []

    def run(number):
        begin.wait()
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    all_of_them = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()
    if failed:
        raise failed[0]
