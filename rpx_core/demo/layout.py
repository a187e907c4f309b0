"""What stands where: the cast of a scene, its arrangement in each phase, and who moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rpx_core.demo.actors import FRAMES, Actor, Member, is_on_table, set_in_motion, turn
from rpx_core.demo.camera import Floats, Orbit
from rpx_core.demo.catalogue import CATEGORIES, build_thing, placed
from rpx_core.demo.raycast import Surface
from rpx_core.demo.room import (
    CLASSES,
    TABLE_LEVEL,
    UNLABELLED,
    build_gripper,
    build_room,
)
from rpx_core.demo.shading import Lighting

SEED = 5062026
PHASES = ("clutter", "interaction", "clean")


@dataclass(frozen=True)
class Level:
    """What a difficulty means: how much stands how close, how fast the camera goes, the light.

    `present` counts the objects and `spread` gives the half width of their region (m), per
    phase; `pairs` counts the look-alikes, `moving` the objects in motion during interaction.
    """

    name: str
    present: tuple[int, int, int]
    spread: tuple[float, float, float]
    pairs: int
    moving: int
    orbit: Orbit
    contrast: float
    ambient: float


LEVELS = (
    Level(
        "easy",
        present=(4, 4, 3),
        spread=(0.13, 0.25, 0.31),
        pairs=0,
        moving=1,
        orbit=Orbit(0.98, 0.60, step=0.046, shake=0.008),
        contrast=1.0,
        ambient=0.64,
    ),
    Level(
        "medium",
        present=(6, 6, 4),
        spread=(0.14, 0.26, 0.33),
        pairs=1,
        moving=2,
        orbit=Orbit(0.94, 0.52, step=0.058, shake=0.014),
        contrast=0.8,
        ambient=0.58,
    ),
    Level(
        "hard",
        present=(9, 8, 5),
        spread=(0.16, 0.26, 0.34),
        pairs=2,
        moving=2,
        orbit=Orbit(0.90, 0.43, step=0.075, shake=0.022),
        contrast=0.55,
        ambient=0.5,
    ),
)
SCENES = 4 * len(LEVELS)


@dataclass(frozen=True)
class ScenePlan:
    """A scene before anything is placed."""

    index: int
    level: Level
    members: tuple[Member, ...]
    room: tuple[Surface, ...]
    lighting: Lighting

    @property
    def name(self) -> str:
        return f"scene{self.index + 1:03d}"


def random_stream(*key: int) -> np.random.Generator:
    """The generator for one purpose; equal keys give equal numbers."""
    return np.random.default_rng([SEED, *key])


def plan_scene(index: int) -> ScenePlan:
    """The cast, room and light of scene `index`, 0-based; four scenes per difficulty."""
    level = LEVELS[index * len(LEVELS) // SCENES]
    rng = random_stream(index, 0)
    lamp = (rng.uniform(-0.9, 0.9), rng.uniform(-0.9, -0.2), TABLE_LEVEL + rng.uniform(1.3, 1.7))
    lighting = Lighting(
        lamp, rng.uniform(0.6, 0.7), level.ambient, rng.uniform(-1, 2), level.contrast
    )
    members = _choose_members(index, level, rng)
    return ScenePlan(index, level, members, tuple(build_room(rng)), lighting)


def arrange(plan: ScenePlan, phase: int) -> tuple[Actor, ...]:
    """Who stands where in a phase; in the interaction phase some objects move."""
    rng = random_stream(plan.index, 1 + phase)
    members = plan.members[: plan.level.present[phase]]
    gap = (0.004, 0.015, 0.035)[phase]
    spots = _place(members, plan.level.spread[phase], gap, rng)
    actors = [
        Actor(member, (_resting(x, y, rng),) * FRAMES)
        for member, (x, y) in zip(members, spots, strict=True)
    ]
    if PHASES[phase] == "clutter" and plan.level.pairs > 0:
        actors = _stack(actors)
    if PHASES[phase] == "interaction":
        actors = set_in_motion(actors, plan.level.moving, rng)
    return tuple(actors)


def stage(plan: ScenePlan, actors: Sequence[Actor], frame: int) -> list[Surface]:
    """Every surface of the scene at one frame, the table top first."""
    surfaces = list(plan.room)
    for actor in actors:
        pose, thing = actor.poses[frame], actor.member.thing
        semantic = CLASSES.index(thing.category)
        for part in thing.parts:
            where, instance = pose @ part.pose, actor.member.instance
            surfaces.append(Surface(part.shape, where, part.material, semantic, instance))
        if actor.gripped:
            for shape, material, local in build_gripper(thing.grip, thing.height):
                surfaces.append(Surface(shape, pose @ local, material, UNLABELLED))
    return surfaces


def _choose_members(index: int, level: Level, rng: np.random.Generator) -> tuple[Member, ...]:
    """Distinct categories and colours first, then look-alikes of the first ones."""
    looks: list[tuple[str, str]] = []
    for category in rng.permutation(list(CATEGORIES))[: level.present[0] - level.pairs]:
        used = {colour for _, colour in looks}
        colours = CATEGORIES[str(category)]
        fresh = [colour for colour in colours if colour not in used] or colours
        looks.append((str(category), str(rng.choice(fresh))))
    looks[2:2] = [_alike(rng, looks, twin) for twin in range(level.pairs)]
    # One id per scene is above 255, to find out a reader that narrows masks to 8 bits.
    instances = [256 + index, *range(1, len(looks))]
    return tuple(
        Member(build_thing(category, colour, rng), instance, f"{index + 1:03d}-{instance}")
        for instance, (category, colour) in zip(instances, looks, strict=True)
    )


def _alike(
    rng: np.random.Generator, looks: Sequence[tuple[str, str]], twin: int
) -> tuple[str, str]:
    """The second twin is equal to its model, the first only of the same category."""
    category, colour = looks[twin]
    if twin > 0:
        return category, colour
    taken = {look[1] for look in looks if look[0] == category}
    return category, str(rng.choice([c for c in CATEGORIES[category] if c not in taken]))


def _place(
    members: Sequence[Member], spread: float, gap: float, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Spots on the table without overlaps, the widest object first."""
    spots: dict[int, tuple[float, float]] = {}
    order = sorted(range(len(members)), key=lambda i: -members[i].thing.footprint)
    for i in order:
        radius = members[i].thing.footprint
        reach = spread
        while i not in spots:
            x, y = rng.uniform(-1, 1) * reach, rng.uniform(-0.75, 0.75) * reach
            distances = [
                np.hypot(x - a, y - b) - radius - members[j].thing.footprint - gap
                for j, (a, b) in spots.items()
            ]
            if min(distances, default=0.0) >= 0.0 and is_on_table(x, y, radius):
                spots[i] = (x, y)
            # A crowded table ends in a wider circle, never in an endless search.
            reach *= 1.002
    return [spots[i] for i in range(len(members))]


def _resting(x: float, y: float, rng: np.random.Generator) -> Floats:
    pose = placed(x, y, TABLE_LEVEL)
    pose[:3, :3] = turn((0.0, 0.0, 1.0), rng.uniform(-np.pi, np.pi))
    return pose


def _stack(actors: list[Actor]) -> list[Actor]:
    """Put one slim object on the first flat one."""
    flat = next((a for a in actors if a.member.thing.category in ("book", "box")), None)
    slim = next((a for a in actors if a.member.thing.category in ("can", "mug", "bottle")), None)
    if flat is None or slim is None:
        return actors
    pose = slim.poses[0].copy()
    pose[:2, 3] = flat.poses[0][:2, 3]
    pose[2, 3] += flat.member.thing.height
    raised = Actor(slim.member, (pose,) * FRAMES)
    return [raised if actor is slim else actor for actor in actors]
