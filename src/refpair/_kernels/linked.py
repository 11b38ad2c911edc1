"""Compile helpers only as far as kernels need them: to code that is linked into theirs.

Numba takes each function all the way to machine code that Python can call, then links its optimised form into
its callers, and optimises that again. Helpers are called by kernels alone: without an entry point, an
optimisation and machine code of their own, the first fit compiles in three quarters of the time. What kernels
become is the same.
"""

from __future__ import annotations

import ctypes
from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# What Python runs if it calls a helper nevertheless: the TypeError that this is nothing to call.
_REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value


class _Linked(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """Code that is optimised by those who link it."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerLinked(NativeLowering):  # type: ignore[misc]
    """Write a helper's code, and tell numba how to call it from a kernel."""

    _name = "refpair_lower_linked"

    def run_pass(self, state: Any) -> bool:
        state.library = _Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        written = state["cr"]
        module, name = written.fndesc.lookup_module(), state.func_id.func_name
        entry = _dynfunc.make_function(module, name, "", _REFUSE, written.env, (state.library,))
        state.targetctx.insert_user_function(entry, written.fndesc, [state.library])
        state["cr"] = written._replace(cfunc=entry)
        return True


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's way to compile, but for the last steps."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, with one in the place of that which writes code."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes[:] = [
            (_LowerLinked if what is NativeLowering else what, why) for what, why in passes.passes
        ]
        passes.finalize()
        return [passes]


# The options of a helper.
LINKED: Any = {"pipeline_class": LinkedCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
