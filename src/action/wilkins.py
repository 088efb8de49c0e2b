"""Wilkins's interface for actions (Yildiz et al. 2024, Sec. 3.5) on top of _leat.

The user's function is called as function(vol, rank), and sets callbacks on `vol`."""
import importlib.util
import os
import sys
import traceback

import _leat

# In the order of enum leat_action_event.
EVENTS = ("before_launch", "before_file_open", "after_file_open", "after_file_close", "on_commit", "after_exit")
DATA_SETS = ("before_dataset_open", "after_dataset_open", "before_dataset_write", "after_dataset_write",
             "before_dataset_close", "after_dataset_close")


class Vol:
    """What the user's function is given. Callbacks get the file's name as the step calls it; those of
    before_launch "", those of after_exit the status as a shell reports it."""

    def __init__(self):
        self._callbacks = {}

    def serve_all(self, *_):
        """All that this rank has written and closed is passed on when the callback returns."""
        _leat.serve_all()

    def broadcast_files(self, *_):
        """The n-th call of a rank waits until rank 0 has made n calls. All ranks see all files anyway."""
        _leat.broadcast_files()

    def clear_files(self, *_):
        """Files are kept as long as somebody needs them, and no longer: there is nothing to clear."""

    @property
    def file_close_counter(self):
        """How often this rank has closed a file, this time included."""
        return _leat.file_close_counter()


def _setter(number, event):
    def set_callback(self, callback):
        if callback is not None and not callable(callback):
            raise TypeError(f"set_{event} takes a function, not {type(callback).__name__}")
        self._callbacks[number] = callback
        _leat.on(number, callback is not None)
    return set_callback


def _refusal(event):
    def set_callback(self, _):
        raise NotImplementedError(f"set_{event}: callbacks on data sets are not supported by this version of leat")
    return set_callback


for _number, _event in enumerate(EVENTS, 1):
    setattr(Vol, "set_" + _event, _setter(_number, _event))
for _event in DATA_SETS:
    setattr(Vol, "set_" + _event, _refusal(_event))


class Actions:
    """One user's file."""

    def __init__(self):
        self.vol, self.file, self.function = Vol(), None, None

    def load(self, file, function):
        self.file = os.path.abspath(file)
        sys.argv = [file]
        sys.path.insert(0, os.path.dirname(self.file))
        spec = importlib.util.spec_from_file_location(os.path.basename(file).removesuffix(".py"), self.file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        self.function = getattr(module, function, None)
        if not callable(self.function):
            raise NameError(f"it has no function {function}")

    def setup(self, rank):
        self.function(self.vol, rank)

    def call(self, number, file, status):
        callback = self.vol._callbacks.get(number)
        if callback:
            callback(status if EVENTS[number - 1] == "after_exit" else file)

    def told(self, error):
        """One line on it, with the place in the user's file; the whole is printed."""
        begin = error.__traceback__
        while begin and begin.tb_frame.f_code.co_filename != self.file:
            begin = begin.tb_next
        if begin:
            traceback.print_exception(type(error), error, begin)
        lines = [f.lineno for f in traceback.extract_tb(begin) if f.filename == self.file]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        text = traceback.format_exception_only(type(error), error)[-1].strip()
        return f"{text} (line {line})" if line else text
