/* Actions in Python: an interpreter, with a module `_leat` in it on which wilkins.py is built. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "action/host.h"
#include "action/wilkins.h"

#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC leat_python_loader leat_python_load;
PUBLIC leat_action_setup leat_python_setup;

static struct leat_action *action; /* there is one in a process */
static PyObject *made;             /* what wilkins.py has made of the user's file */

/* ---- the module ---- */

static PyObject *serve_all(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	leat_action_serve_all(action);
	Py_RETURN_NONE;
}

static PyObject *broadcast_files(PyObject *self, PyObject *unused)
{
	int rc;

	(void)self;
	(void)unused;
	rc = leat_action_broadcast_files(action);
	if (rc) {
		PyErr_SetString(PyExc_RuntimeError, "the run has ended");
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *file_close_counter(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return PyLong_FromUnsignedLong(leat_action_file_close_counter(action));
}

static int call_python(struct leat_action *a, const struct leat_action_info *info, void *data);

static PyObject *on(PyObject *self, PyObject *args)
{
	int event, wanted;

	(void)self;
	if (!PyArg_ParseTuple(args, "ip", &event, &wanted))
		return NULL;
	leat_action_on(action, (enum leat_action_event)event, wanted ? call_python : NULL, NULL);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"serve_all", serve_all, METH_NOARGS, NULL},
	{"broadcast_files", broadcast_files, METH_NOARGS, NULL},
	{"file_close_counter", file_close_counter, METH_NOARGS, NULL},
	{"on", on, METH_VARARGS, NULL},
	{0},
};

static PyObject *make_module(void)
{
	static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_leat", .m_size = -1,
					    .m_methods = methods};

	return PyModule_Create(&module);
}

/* ---- errors ---- */

/* The traceback to standard error, its last line as the reason. */
static int fail_by_exception(struct leat_action *a)
{
	PyObject *type, *value, *trace, *text = NULL;
	const char *line = NULL;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (value && trace)
		PyException_SetTraceback(value, trace);
	if (made && value)
		text = PyObject_CallMethod(made, "told", "O", value);
	if (!text && value) {
		PyErr_Clear();
		text = PyObject_Repr(value);
	}
	line = text ? PyUnicode_AsUTF8(text) : NULL;
	leat_action_fail(a, "%s", line ? line : "an error in Python");
	PyErr_Clear();
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	return -1;
}

/* Takes the result over. */
static int finish(struct leat_action *a, PyObject *result)
{
	if (!result)
		return fail_by_exception(a);
	Py_DECREF(result);
	return 0;
}

static int call_python(struct leat_action *a, const struct leat_action_info *info, void *data)
{
	(void)data;
	return finish(a, PyObject_CallMethod(made, "call", "isi", (int)info->event, info->file,
					     info->status));
}

/* ---- the interpreter ---- */

/* That of a virtual environment, if one is active: its modules are meant. */
static const char *interpreter(char *path, size_t size)
{
	const char *environment = getenv("VIRTUAL_ENV");

	if (environment && *environment &&
	    (size_t)snprintf(path, size, "%s/bin/python3", environment) < size)
		return path;
	return LEAT_PYTHON;
}

static PyStatus configure(PyConfig *config)
{
	char path[4096];
	PyStatus status;

	PyConfig_InitPythonConfig(config);
	config->install_signal_handlers = 0;
	config->parse_argv = 0;
	/* No files beside the user's. */
	config->write_bytecode = 0;
	status = PyConfig_SetBytesString(config, &config->program_name,
					 interpreter(path, sizeof(path)));
	return PyStatus_Exception(status) ? status : Py_InitializeFromConfig(config);
}

static int start(struct leat_action *a)
{
	PyConfig config;
	PyStatus status;

	if (PyImport_AppendInittab("_leat", make_module) < 0)
		return leat_action_fail(a, "out of memory");
	status = configure(&config);
	PyConfig_Clear(&config);
	return PyStatus_Exception(status)
		       ? leat_action_fail(a, "Python cannot be started: %s", status.err_msg)
		       : 0;
}

int leat_python_load(struct leat_action *a, const char *file, const char *function)
{
	PyObject *globals, *loaded;

	action = a;
	if (start(a))
		return -1;
	globals = PyDict_New();
	loaded = globals ? PyRun_String(leat_wilkins_text, Py_file_input, globals, globals) : NULL;
	Py_XDECREF(loaded);
	loaded = loaded ? PyDict_GetItemString(globals, "Actions") : NULL;
	made = loaded ? PyObject_CallNoArgs(loaded) : NULL;
	if (!made)
		return fail_by_exception(a);
	return finish(a, PyObject_CallMethod(made, "load", "ss", file, function));
}

int leat_python_setup(struct leat_action *a, int rank)
{
	return finish(a, PyObject_CallMethod(made, "setup", "i", rank));
}
