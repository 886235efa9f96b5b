"""The kernels that find matches: one folder each, whose module `memory` has the functions of `protocol.Kernel`.

`registry` finds the kernel of a detector, and the kernel that a stored memory belongs to.
"""

DOORS = (
    "completion.table",
    "match_arrays",
    "protocol",
    "registry",
)
