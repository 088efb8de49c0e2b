"""refuse.py PROGRAM ARGUMENT...: executes it where no text may be written any more, nor data executed; 77: the kernel
cannot do that."""
import ctypes
import os
import sys

PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1
if ctypes.CDLL(None).prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
