"""Objects on a table by colour: connected regions, hulls, and the depth where they stand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.contracts import Runtime, Sample, withhold
from rpx_core.demo.generator import write_dataset
from rpx_core.errors import ModelError
from rpx_core.frames import load_sample
from rpx_core.images import decode_depth, decode_labels
from rpx_core.manifest import read_manifest
from rpx_depth.boundary import relative_boundary
from rpx_depth.connected import fill_hull, label_connected
from rpx_depth.models import at_points, ground_plane, standing_objects
from rpx_depth.models.standing_objects import StandingObjectsOptions
from rpx_depth.types import SparseDepthQuery

RUNTIME = Runtime(device="cpu", seed=0, cache=None)
WOOD, RED = (180, 130, 80), (200, 20, 20)

masks = arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9)))


def flood(mask: np.ndarray) -> np.ndarray:
    """Regions by the simplest rule: each pixel takes the number of its neighbours, one by one."""
    labels, count = np.zeros(mask.shape, int), 0
    for start in zip(*np.nonzero(mask), strict=True):
        if labels[start]:
            continue
        count += 1
        waiting = [start]
        while waiting:
            row, column = waiting.pop()
            inside = 0 <= row < mask.shape[0] and 0 <= column < mask.shape[1]
            if inside and mask[row, column] and not labels[row, column]:
                labels[row, column] = count
                steps = (-1, 0, 1)
                waiting += [(row + i, column + j) for i in steps for j in steps]
    return labels


@given(masks)
def test_regions_are_those_of_a_flood(mask):
    np.testing.assert_array_equal(label_connected(mask), flood(mask))


@given(masks)
def test_a_hull_is_convex_and_holds_the_mask(mask):
    hull = fill_hull(mask)
    assert not (mask & ~hull).any()
    np.testing.assert_array_equal(fill_hull(hull), hull)
    # Between two pixels of a row nothing is left out.
    for row in hull:
        places = np.flatnonzero(row)
        assert places.size == 0 or places.size == places[-1] - places[0] + 1


def test_a_hull_spans_what_is_hollow():
    corners = np.zeros((5, 5), bool)
    corners[[0, 0, 4, 4], [0, 4, 0, 4]] = True
    assert fill_hull(corners).all()


def scene() -> Sample:
    """A red box, 40 rows high, on a table that fills the image below a wall."""
    rgb = np.empty((240, 320, 3), np.uint8)
    rgb[:60], rgb[60:] = (120, 120, 125), WOOD
    rgb[100:140, 150:190] = RED
    return Sample("s1", rgb=rgb)


def predict(model, sample: Sample) -> np.ndarray:
    model.setup()
    return model.predict([withhold(sample)])[0].depth_map


def test_an_object_has_the_depth_of_the_plane_where_it_stands():
    plane = predict(ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME), scene())
    depth = predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), scene())
    changed = depth != plane
    assert depth.dtype == np.float32
    np.testing.assert_array_equal(np.unique(np.nonzero(changed)[0])[[0, -1]], [100, 138])
    assert set(depth[100:140, 150:190].ravel().tolist()) == {float(plane[139, 0])}
    box = np.zeros(changed.shape, bool)
    box[100:140, 150:190] = True
    assert not (changed & ~box).any()


def test_an_object_has_jumps_at_its_outline_and_the_plane_has_none():
    plane = predict(ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME), scene())
    depth = predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), scene())
    assert not relative_boundary(plane)[60:].any()
    jumps = np.nonzero(relative_boundary(depth)[60:])
    assert jumps[0].min() + 60 == 100
    assert (jumps[1].min(), jumps[1].max()) == (150, 189)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (480, 640)])
@pytest.mark.parametrize("colour", [0, 255, 90])
def test_an_image_of_one_colour_is_the_plane(shape, colour):
    sample = Sample("s", rgb=np.full((*shape, 3), colour, np.uint8))
    plane = predict(ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME), sample)
    depth = predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), sample)
    np.testing.assert_array_equal(depth, plane)


def test_a_wall_behind_the_table_is_not_an_object():
    sample = scene()
    sample.rgb[60:90, 40:300] = (90, 90, 95)
    plane = predict(ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME), sample)
    depth = predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), sample)
    np.testing.assert_array_equal(depth[60:90], plane[60:90])


@given(arrays(np.uint8, (20, 30, 3), elements=st.sampled_from([0, 90, 180])))
def test_any_image_has_positive_depth_up_to_the_far_end(rgb):
    depth = predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), Sample("s", rgb=rgb))
    assert depth.shape == (20, 30)
    assert np.all((depth > 0) & (depth <= 2))


def test_points_are_read_from_the_map():
    points = np.array([[170.0, 110], [10, 200]])
    sample = scene()
    depth = predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), sample)
    asked = Sample("s1", rgb=sample.rgb, query=SparseDepthQuery(coordinates=points))
    model = at_points.load_standing_objects(StandingObjectsOptions(), RUNTIME)
    (found,) = model.predict([withhold(asked)])
    np.testing.assert_allclose(found.depths, [depth[110, 170], depth[200, 10]])


def test_a_sample_without_image_is_named():
    with pytest.raises(ModelError, match=r"s9.*image"):
        predict(standing_objects.load(StandingObjectsOptions(), RUNTIME), Sample("s9"))


def test_objects_of_the_demo_are_nearer_to_the_truth_than_with_the_plane_alone(tmp_path):
    manifest = read_manifest(write_dataset(tmp_path, [5]))
    models = (
        ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME),
        standing_objects.load(StandingObjectsOptions(), RUNTIME),
    )
    errors = []
    for record in manifest.records(manifest.entries):
        content = {key: manifest.files.read(record.assets[key]) for key in ("depth", "mask")}
        sample = load_sample(record, manifest.files, ground_truth=None)
        truth = decode_depth(content["depth"], name=record.assets["depth"], scale=None)
        objects = decode_labels(content["mask"], name=record.assets["mask"]) > 0
        counted = objects & (truth > 0)
        found = [predict(model, sample)[counted] for model in models]
        errors.append([np.mean(np.abs(one - truth[counted]) / truth[counted]) for one in found])
    plane, figures = np.mean(errors, axis=0)
    # 0.089 and 0.170.
    assert figures < 0.7 * plane
