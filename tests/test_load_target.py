"""What a spec points at is imported, or its owner is blamed."""

from __future__ import annotations

import pytest

from rpx_core.errors import PluginError
from rpx_core.isolation import load_target
from tests.toys.site import toy_site


@pytest.fixture
def site(tmp_path):
    with toy_site(tmp_path) as site:
        yield site


def test_load_target_gives_the_object(site):
    site.module("toy_target", "class Model:\n    class Inner:\n        value = 3\n")
    assert load_target("toy_target:Model.Inner", wanted_by="model toys/a").value == 3


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import torch_that_is_missing", ModuleNotFoundError),
        ("raise SystemExit(1)", SystemExit),
        ("raise OSError('broken.so: undefined symbol')", OSError),
        ("other = 1", AttributeError),
        ("def f(:", SyntaxError),
    ],
)
def test_load_target_blames_the_spec_and_keeps_the_cause(site, source, cause):
    site.module("toy_target", source)
    with pytest.raises(PluginError, match="model toys/a: import of toy_target:load") as caught:
        load_target("toy_target:load", wanted_by="model toys/a")
    assert isinstance(caught.value.__cause__, cause)


def test_load_target_says_which_module_is_missing(site):
    site.module("toy_target", "import torch_that_is_missing")
    with pytest.raises(PluginError, match="'torch_that_is_missing'") as caught:
        load_target("toy_target:load", wanted_by="model toys/a")
    assert caught.value.hint == "install what provides the module 'torch_that_is_missing'"
