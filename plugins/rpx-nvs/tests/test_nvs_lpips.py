"""LPIPS: the real forward pass and the real loading, with a trunk of seeded weights."""

import hashlib
import os

import numpy as np
import pytest

from rpx_core.contracts import Undefined
from rpx_core.errors import MetricError
from rpx_nvs.metrics.lpips import Lpips
from rpx_nvs.perceptual.weights import TRUNK_URL, load_heads, load_trunk
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

SHAPES = {
    "features.0": (64, 3, 11, 11),
    "features.3": (192, 64, 5, 5),
    "features.6": (384, 192, 3, 3),
    "features.8": (256, 384, 3, 3),
    "features.10": (256, 256, 3, 3),
}
RNG = np.random.default_rng(6)
IMAGES = RNG.integers(0, 256, (2, 40, 48, 3), np.uint8)


@pytest.fixture(scope="module")
def torch():
    # A gigabyte: an extra, which the session `parity` installs.
    return pytest.importorskip("torch", reason="torch is an extra; `nox -s parity` runs these")


@pytest.fixture(scope="module")
def trunk(torch):
    """The stand-in for AlexNet that the golden values were made with."""
    weights = {}
    for layer, (key, shape) in enumerate(SHAPES.items()):
        weight = np.random.default_rng(1000 + layer).standard_normal(shape)
        bias = np.random.default_rng(2000 + layer).standard_normal(shape[0]) * 0.05
        weight *= np.sqrt(2 / np.prod(shape[1:]))
        weights[f"{key}.weight"] = torch.from_numpy(weight.astype(np.float32))
        weights[f"{key}.bias"] = torch.from_numpy(bias.astype(np.float32))
    return weights


@pytest.fixture(scope="module")
def distance(trunk):
    from rpx_nvs.perceptual.network import PerceptualDistance

    return PerceptualDistance(trunk, load_heads())


def measure(metric, prediction, truth, **known):
    target = NovelViewSynthesisGroundTruth(truth, **known)
    return metric.measure(None, target, NovelViewSynthesisPrediction(prediction))


@pytest.mark.parametrize("case", ["pseudo_rgb", "pseudo_rgb_identical"])
def test_golden_values_with_seeded_trunk(golden, distance, case):
    expected, images = golden(f"lpips/{case}")
    assert distance.measure(images["pred"], images["gt"]) == pytest.approx(
        expected["expected"], rel=expected["rtol"], abs=expected["atol"]
    )


def test_8_bit_and_float_images_of_the_same_colours_give_one_value(distance):
    metric = Lpips(lambda: distance)
    first, second = IMAGES
    floats = (first / 255).astype(np.float32)
    values = [metric.result(measure(metric, rgb, second))["lpips_alex"] for rgb in (first, floats)]
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert values[0] > 0.01


# RW-097: the network wants -1 to 1; fed 0 to 1 it gives too low a distance.
@pytest.mark.parametrize("form", [np.uint8, np.float32])
def test_the_network_sees_colours_from_minus_one_to_one(distance, monkeypatch, form):
    seen = []
    features = distance._features
    monkeypatch.setattr(
        distance, "_features", lambda images: (seen.append(images), features(images))[1]
    )
    black_and_white = np.zeros((40, 48, 3), form)
    black_and_white[:, 24:] = 255 if form is np.uint8 else 1.0
    measure(Lpips(lambda: distance), black_and_white, IMAGES[0])
    assert (float(seen[0][0].min()), float(seen[0][0].max())) == (-1.0, 1.0)


def test_distance_is_zero_for_equal_images_symmetric_and_grows(distance):
    first, second = (image / 255 for image in IMAGES)
    assert distance.measure(first, first) == 0
    far = distance.measure(first, second)
    assert distance.measure(second, first) == pytest.approx(far, rel=1e-6)
    assert 0 < distance.measure(first, 0.8 * first + 0.2 * second) < far


def test_masked_and_tiny_images_are_undefined(distance):
    metric = Lpips(lambda: distance)
    scored = np.ones((40, 48), np.bool_)
    scored[0, 0] = False
    assert measure(metric, *IMAGES, scored=scored) == Undefined("a mask leaves pixels out")
    assert isinstance(measure(metric, *IMAGES[:, :30]), Undefined)
    assert isinstance(measure(metric, *IMAGES[:, :31, :31]), metric.State)


def test_another_network_is_refused(trunk):
    from rpx_nvs.perceptual.network import PerceptualDistance

    other = {**trunk, "features.3.weight": trunk["features.3.weight"][:, :32]}
    with pytest.raises(MetricError, match=r"features\.3\.weight"):
        PerceptualDistance(other, load_heads())


def test_trunk_is_fetched_verified_and_kept(torch, trunk, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path / "hub"))
    served = tmp_path / "weights.pth"
    torch.save(trunk, served)
    digest = hashlib.sha256(served.read_bytes()).hexdigest()[:8]
    named = served.rename(tmp_path / f"alexnet-{digest}.pth")
    found = load_trunk(named.as_uri())
    assert torch.equal(found["features.0.bias"], trunk["features.0.bias"])
    named.unlink()
    assert set(load_trunk(named.as_uri())) == set(trunk)


def test_damaged_trunk_is_refused(torch, trunk, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path / "hub"))
    served = tmp_path / "alexnet-00000000.pth"
    torch.save(trunk, served)
    with pytest.raises(MetricError, match="not available") as refused:
        load_trunk(served.as_uri())
    assert os.path.join("checkpoints", served.name) in str(refused.value)


def test_missing_trunk_says_what_to_fetch_and_where_to_put_it(torch, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path))
    nowhere = (tmp_path / "gone" / TRUNK_URL.rpartition("/")[2]).as_uri()
    metric = Lpips(lambda: load_trunk(nowhere))
    with pytest.raises(MetricError, match="not available") as refused:
        measure(metric, *IMAGES)
    assert str(tmp_path / "checkpoints") in str(refused.value)


def test_weights_that_cannot_be_had_are_asked_for_once():
    asked = []

    def load():
        asked.append(1)
        raise MetricError("no network", hint="fetch it")

    metric = Lpips(load)
    for _ in range(3):
        with pytest.raises(MetricError, match="no network") as raised:
            measure(metric, *IMAGES)
        assert raised.value.hint == "fetch it"
    assert len(asked) == 1


def test_building_the_metric_needs_neither_torch_nor_weights():
    metric = Lpips()
    state = metric.State(2, 0.5)
    assert metric.result(state) == {"lpips_alex": 0.25}


def test_heads_are_those_of_version_0_1():
    heads = load_heads()
    assert [head.size for head in heads] == [64, 192, 384, 256, 256]
    assert all((head >= 0).all() for head in heads)


def test_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MetricError, match="PyTorch") as refused:
        load_trunk()
    assert "rpx-nvs[lpips]" in str(refused.value)
