"""Estimators for methods that kFuse is compared with and that scikit-learn and scipy do not have.

`kfuse.baselines.methods` lists all methods of the study.
"""

from kfuse.baselines.decision import decision_graph
from kfuse.baselines.density_peaks import DensityPeaks
from kfuse.baselines.ldp_mst import LDPMST
from kfuse.baselines.wann_dpc import WANNDPC

__all__ = ["LDPMST", "WANNDPC", "DensityPeaks", "decision_graph"]
