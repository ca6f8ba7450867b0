"""What plots, report and notebook share: colours, the points, the tree's layout, the curve, the features.

Nothing here imports a plotting library; `kfuse.plots` draws with matplotlib, `kfuse.report` in the browser.
"""
