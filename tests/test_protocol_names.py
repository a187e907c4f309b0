"""What a protocol names is what its own distribution has."""

from __future__ import annotations

from pathlib import Path

from rpx_core.layers import Layers, make_plans
from tests.toys.bench import Bench
from tests.toys.lab import TOYS
from tests.toys.site import ToySite

OTHER = """\
from rpx_core.specs import ProtocolSpec


@hookimpl
def rpx_metrics():
    return [
        MetricSpec(
            name="toy-error",
            summary="Another error of the same name.",
            target="toy_engine_metrics:Quality",
            tasks=("toy_level",),
        )
    ]


@hookimpl
def rpx_protocols():
    return [
        ProtocolSpec(
            name="others-own",
            summary="Names a metric of its own.",
            target="toy_others:own.toml",
            tasks=("toy_level",),
        )
    ]
"""
OWN = """\
schema = "rpx-protocol-1"
task = "toy_level"
summary = "By another package."

[metrics]
error = "toy-error"
"""


def test_a_name_in_a_protocol_means_that_of_its_own_distribution(tmp_path: Path) -> None:
    with TOYS.installed(tmp_path / "site") as host:
        bench = Bench(tmp_path, host)
        bench.write_set()
        site = ToySite(tmp_path / "site", core=None)
        site.plugin("rpx-other", OTHER)
        package = tmp_path / "site" / "toy_others"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "own.toml").write_text(OWN)
        layers = Layers({"protocol": "others-own"}, {"data": str(tmp_path / "set.json")})
        (plan,) = make_plans(type(host).discover(), layers, tmp_path / "runs")
    assert plan.resolved.metric_parts["error"].name == "rpx-other/toy-error"
    assert plan.record.primary == "error.db@sample"
