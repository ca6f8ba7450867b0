"""What `tests.forked` has ready in every process: the imports that take long, and the kernels of a small fit.

Not polars, which starts threads when it is imported: these would not survive a fork.
"""

import numpy as np

from kfuse import KFuse

KFuse(2, n_jobs=1).fit(np.random.default_rng(0).random((60, 2)))
