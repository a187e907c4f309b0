"""Small networks of the two great families, and their operations by formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn


class Bottleneck(nn.Module):
    """The residual block of a ResNet-50: 1x1, 3x3 with the stride, 1x1, and a projection."""

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        out = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(width_in, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )
        same = stride == 1 and width_in == out
        self.short = nn.Identity() if same else nn.Conv2d(width_in, out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.short(x))


class ResNet(nn.Module):
    """A ResNet-50 with as many blocks as are asked for; (3, 4, 6, 3) is the real one."""

    def __init__(self, blocks: Sequence[int] = (3, 4, 6, 3), base: int = 64) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, base, 7, 2, 3, bias=False),
            nn.BatchNorm2d(base),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        layers, width_in = [], base
        for stage, count in enumerate(blocks):
            for block in range(count):
                width = base * 2**stage
                layers.append(Bottleneck(width_in, width, 2 if stage and not block else 1))
                width_in = 4 * width
        self.stages = nn.Sequential(*layers)
        self.head = nn.Linear(width_in, 1000)

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.head(self.stages(self.stem(x)).mean((2, 3)))
        return answer


def count_resnet(size: int, blocks: Sequence[int] = (3, 4, 6, 3), base: int = 64) -> int:
    """Operations of a ResNet on a square image: 2 k² c_in c_out per pixel of each convolution."""
    side = size // 2
    macs = 49 * 3 * base * side**2
    side //= 2
    width_in = base
    for stage, count in enumerate(blocks):
        width = base * 2**stage
        for block in range(count):
            before = side
            if stage and not block:
                side //= 2
            macs += width_in * width * before**2
            macs += 9 * width * width * side**2
            macs += width * 4 * width * side**2
            if not block:
                macs += width_in * 4 * width * side**2
            width_in = 4 * width
    return 2 * (macs + width_in * 1000)


@dataclass(frozen=True)
class Sizes:
    """Those of a vision transformer; these are a ViT-S/16 with fewer layers."""

    width: int = 384
    heads: int = 6
    layers: int = 3
    patch: int = 16


class Attention(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.qkv = nn.Linear(sizes.width, 3 * sizes.width)
        self.out = nn.Linear(sizes.width, sizes.width)

    def forward(self, x: Tensor) -> Tensor:
        n, tokens, width = x.shape
        shape = (n, tokens, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(x).reshape(shape).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        answer: Tensor = self.out(mixed.transpose(1, 2).reshape(n, tokens, width))
        return answer


class Block(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        width = sizes.width
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(sizes))
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(x)
        answer: Tensor = x + self.mlp(x)
        return answer


class VisionTransformer(nn.Module):
    def __init__(self, sizes: Sizes = Sizes()) -> None:  # frozen
        super().__init__()
        self.patches = nn.Conv2d(3, sizes.width, sizes.patch, sizes.patch)
        self.blocks = nn.Sequential(*(Block(sizes) for _ in range(sizes.layers)))
        self.head = nn.Linear(sizes.width, 1000)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        answer: Tensor = self.head(self.blocks(tokens).mean(1))
        return answer


def count_transformer(tokens: int, sizes: Sizes) -> int:
    """Operations of a vision transformer: products, and attention's n² d twice per layer."""
    width = sizes.width
    embed = tokens * 3 * sizes.patch**2 * width
    products = tokens * (3 + 1 + 4 + 4) * width * width
    attention = 2 * tokens * tokens * width
    return 2 * (embed + sizes.layers * (products + attention) + width * 1000)
