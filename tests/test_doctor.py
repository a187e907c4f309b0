"""The doctor explains every plugin, and what to write in a configuration."""

from __future__ import annotations

import json
import tomllib

import pytest

from rpx_core.doctor import HEADINGS, diagnose, to_dict, to_rows, to_text
from tests.toys.hostile import HOSTILE
from tests.toys.site import GOOD, toy_site


@pytest.fixture
def site(tmp_path):
    with toy_site(tmp_path) as site:
        yield site


@pytest.fixture
def diagnosis(site):
    for name, hostile in HOSTILE.items():
        site.plugin(f"rpx-{name}", hostile.source, metadata=hostile.metadata)
    site.plugin("rpx-good", GOOD, version="1.2")
    return diagnose(site.host())


@pytest.mark.parametrize("name", HOSTILE)
def test_every_form_explains_every_hostile_plugin(diagnosis, name):
    says = HOSTILE[name].says
    assert any(row[1] == f"rpx-{name}" and says in row[-1] for row in to_rows(diagnosis))
    assert says in to_text(diagnosis)
    assert says in json.dumps(to_dict(diagnosis), ensure_ascii=False)


def test_a_row_says_what_a_working_plugin_offers(diagnosis):
    rows = to_rows(diagnosis)
    assert rows[-1] == ("ok", "rpx-good", "1.2", "good", "1 model")
    assert {len(row) for row in rows} == {len(HEADINGS)}
    assert not diagnosis.healthy


def test_the_text_shows_where_the_plugin_failed(diagnosis, site):
    text = to_text(diagnosis)
    assert f'File "{site.folder / "rpx_raising_hook.py"}"' in text
    assert "must not be imported" not in text


def test_the_pins_are_toml_and_cover_working_plugins_only(diagnosis):
    text = to_text(diagnosis)
    start = text.index("[requires]")
    pins = tomllib.loads(text[start : text.index("\n\n", start)])
    assert pins == {"requires": {"rpx-good": "==1.2"}}
    assert to_dict(diagnosis)["requires"] == pins["requires"]


def test_names_that_need_their_distribution_are_listed(site):
    site.plugin("rpx-one", GOOD)
    site.plugin("rpx-two", GOOD)
    diagnosis = diagnose(site.host())
    assert diagnosis.healthy
    assert "model good: rpx-one/good, rpx-two/good" in to_text(diagnosis)
    expected = {"model": {"good": ["rpx-one/good", "rpx-two/good"]}}
    assert to_dict(diagnosis)["shared_names"] == expected


def test_an_editable_install_is_marked(site):
    site.plugin("rpx-good", GOOD)
    origin = next(site.folder.glob("rpx_good-*")) / "direct_url.json"
    origin.write_text('{"dir_info": {"editable": true}}', encoding="utf-8")
    (row,) = to_rows(diagnose(site.host()))
    assert row[2] == "1.0 (editable)"


def test_a_host_without_plugins_has_a_diagnosis(site):
    text = to_text(diagnose(site.host()))
    assert text.startswith("Python 3.")
    assert "[requires]" not in text
