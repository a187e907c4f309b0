"""Objects with an identity, where they are in every frame of a phase, and how they move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rpx_core.demo.camera import Floats
from rpx_core.demo.catalogue import Thing, placed
from rpx_core.demo.room import TABLE_HALF_X, TABLE_HALF_Y

FRAMES = 6


@dataclass(frozen=True)
class Member:
    """An object of the cast, with the ids it keeps in every phase."""

    thing: Thing
    instance: int
    track_id: str

    @property
    def name(self) -> str:
        return f"{self.thing.colour} {self.thing.category}"


@dataclass(frozen=True)
class Actor:
    """An object in one phase: its pose in every frame, and whether a gripper holds it."""

    member: Member
    poses: tuple[Floats, ...]
    gripped: bool = False

    @property
    def is_moving(self) -> bool:
        return not np.array_equal(self.poses[0], self.poses[-1])


def set_in_motion(actors: Sequence[Actor], count: int, rng: np.random.Generator) -> list[Actor]:
    """Lift one object with the gripper; push or roll another over free table."""
    lifted = next(i for i, a in enumerate(actors) if a.member.thing.grip > 0)
    moving = {lifted: _lift(actors[lifted], actors, rng)}
    for i, actor in enumerate(actors):
        if len(moving) == count:
            break
        if i in moving:
            continue
        way = _free_way(actor, actors, rng)
        if way is not None:
            moving[i] = _push(actor, way)
    return [moving.get(i, actor) for i, actor in enumerate(actors)]


def is_on_table(x: float, y: float, radius: float) -> bool:
    return abs(x) + radius < TABLE_HALF_X and abs(y) + radius < TABLE_HALF_Y


def turn(axis: tuple[float, ...], angle: float) -> Floats:
    """Rotation about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def _lift(actor: Actor, actors: Sequence[Actor], rng: np.random.Generator) -> Actor:
    """Up, then aside to where most room is, turning a little."""
    start = actor.poses[0][:2, 3]
    angles = rng.permutation(16) * np.pi / 8
    ends = start + 0.11 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # Never further out than it was, or the camera loses sight of it.
    ends = ends[np.linalg.norm(ends, axis=1) <= max(0.12, float(np.linalg.norm(start)))]
    others = np.array([other.poses[0][:2, 3] for other in actors if other is not actor])
    room = np.linalg.norm(ends[:, None] - others[None], axis=2).min(axis=1)
    way = ends[np.argmax(room)] - start
    poses = []
    for share in _progress():
        pose = actor.poses[0].copy()
        pose[:3, :3] = turn((0.0, 0.0, 1.0), 0.5 * share) @ pose[:3, :3]
        pose[:2, 3] += share * share * way
        pose[2, 3] += 0.14 * np.sin(share * np.pi / 2)
        poses.append(pose)
    return Actor(actor.member, tuple(poses), gripped=True)


def _free_way(actor: Actor, actors: Sequence[Actor], rng: np.random.Generator) -> Floats | None:
    """A displacement (2,) that keeps clear of every other object, None when there is none."""
    start, radius = actor.poses[0][:2, 3], actor.member.thing.footprint
    for angle in rng.permutation(16) * np.pi / 8:
        way = 0.15 * np.array([np.cos(angle), np.sin(angle)])
        steps = start + np.linspace(0, 1, 9)[:, None] * way
        clear = all(is_on_table(x, y, radius) for x, y in steps)
        for other in actors:
            if other is not actor:
                apart = np.linalg.norm(steps - other.poses[0][:2, 3], axis=1).min()
                clear &= bool(apart > radius + other.member.thing.footprint + 0.005)
        if clear:
            return np.asarray(way)
    return None


def _push(actor: Actor, way: Floats) -> Actor:
    """Along the table; a ball rolls."""
    thing = actor.member.thing
    poses = []
    for share in _progress():
        pose = actor.poses[0].copy()
        if thing.category == "ball":
            # Rolling without slipping turns the ball about its centre, not about its base.
            centre = placed(z=thing.height / 2)
            distance = float(np.linalg.norm(way))
            axis = (-way[1] / distance, way[0] / distance, 0.0)
            pose[:3, :3] = turn(axis, share * distance / centre[2, 3]) @ pose[:3, :3]
            pose = placed(*pose[:3, 3]) @ centre @ _rotation_of(pose) @ np.linalg.inv(centre)
        pose[:2, 3] += share * way
        poses.append(pose)
    return Actor(actor.member, tuple(poses))


def _rotation_of(pose: Floats) -> Floats:
    rotation = pose.copy()
    rotation[:3, 3] = 0.0
    return rotation


def _progress() -> Floats:
    """Shares of a motion per frame, easing in and out."""
    share = np.linspace(0, 1, FRAMES)
    return np.asarray(0.4 * share + 0.6 * share * share * (3 - 2 * share))
