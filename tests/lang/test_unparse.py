"""What is no expression has no text: data that was forged is refused, in whatever place it stands."""

from __future__ import annotations

from typing import Any

import pytest

from cfrc.lang.unparse import unparse
from cfrc.model.expr import Build, Field, Lit
from cfrc.model.types import ANY


@pytest.mark.parametrize("forged", [None, "x", 7, ANY, ()], ids=repr)
def test_what_is_no_expression_has_no_text(forged: Any) -> None:
    inside = Build(kind="list", items=(Lit(value=1, type=ANY), forged), type=ANY)
    for e in (forged, Field(base=forged, name="a", type=ANY), inside):
        with pytest.raises(TypeError, match="is no expression"):
            unparse(e)
