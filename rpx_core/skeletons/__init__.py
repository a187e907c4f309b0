"""Packages to begin with: `rpx new` writes one that works, passes its own tests, and is yours.

Templates lie beside this module, by kind and, where code depends on it, by task. `<< name >>` is
replaced; a folder `package` becomes the package, `dot-` a leading dot.
"""
