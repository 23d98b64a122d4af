"""What the scripts of all frameworks share: they save checkpoints until they are killed, or load them.

Each line on stdin is an order: "write FOLDER" saves number after number into the folder and prints each when
it is saved; "load FOLDER NAME" prints the number in a checkpoint. A child carries it out, because
frameworks take seconds to start. The child's "pid N" is printed before and "done" afterwards.
"""

import os
import sys
import traceback


def serve(write, load):
    for line in sys.stdin:
        order, *arguments = line.split()
        child = os.fork()
        if child == 0:
            try:
                print("pid", os.getpid(), flush=True)
                if order == "write":
                    write(*arguments)
                print(load(*arguments), flush=True)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        os.waitpid(child, 0)
        print("\ndone", flush=True)  # what was killed may have left half a line
