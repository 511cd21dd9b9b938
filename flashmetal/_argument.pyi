# Nothing of this module is visible from Python.
