"""Questions about systems of components: are they put together well, what influences what, and can they get stuck?"""

from tocsin.analysis.system.decide import Decision, decide, overflow
from tocsin.analysis.system.layout import check_layout
from tocsin.analysis.system.search import Graph, explore
from tocsin.analysis.system.slice import slice_of

__all__ = ["Decision", "Graph", "check_layout", "decide", "explore", "overflow", "slice_of"]
