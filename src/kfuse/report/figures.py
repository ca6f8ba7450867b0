"""The three Bokeh figures, without samples: the script of the page fills them in."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.embed import json_item
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    HoverTool,
    LinearColorMapper,
    NumeralTickFormatter,
    PanTool,
    Range1d,
    ResetTool,
    Span,
    WheelZoomTool,
)
from bokeh.plotting import figure

from kfuse.drawing import palette
from kfuse.drawing.curve import HEIGHT_LABEL, N_MARKED, USUAL, readable, step_at, top_of
from kfuse.drawing.points import point_size
from kfuse.report.content import Content

FADED = "#0000000d"  # samples that are not selected
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def items(shown: Content) -> dict[str, Any]:
    """Return the figures as Bokeh JSON, keyed by the id of their element in the page."""
    return {
        "samples": json_item(samples(shown)),
        "tree": json_item(tree(shown)),
        "curve": json_item(curve(shown)),
    }


def samples(shown: Content) -> Any:
    """Build the scatter plot, which is drawn with WebGL."""
    plot = _figure(
        "samples", output_backend="webgl", tools=[PanTool(), WheelZoomTool(), ResetTool()], toolbar_location="right"
    )
    plot.toolbar.active_scroll = plot.select_one(WheelZoomTool)
    # Start with one point, because an empty plot has no range.
    first = {"x": [0.0], "y": [0.0], "shade": [0.5], "marker": ["circle"]}
    source = ColumnDataSource(first, name="samples source")
    # The colours of the clusters, then grey for outliers, then the faded one.
    shades = [*palette.COLOURS, palette.GREY, FADED]
    shade = {"field": "shade", "transform": LinearColorMapper(palette=shades, low=0, high=len(shades))}
    points = plot.scatter(
        "x",
        "y",
        source=source,
        size=point_diameter(shown.n_samples),
        fill_color=shade,
        line_color=shade if shown.payload["tree"]["outlier"] else None,  # crosses consist of lines
        marker="marker" if shown.payload["marked"] else "circle",
    )
    points.nonselection_glyph = points.selection_glyph = None
    plot.x_range.renderers = plot.y_range.renderers = [points]
    plot.add_tools(
        HoverTool(
            renderers=[points],
            tooltips=None,
            visible=False,
            callback=CustomJS(code="kfuse.hoverSample(cb_data.index.indices, cb_data.geometry)"),
        )
    )
    ring = ColumnDataSource({"x": [], "y": []}, name="ring source")
    plot.scatter("x", "y", source=ring, size=14, fill_color=None, line_color=palette.INK, line_width=1.5)
    plot.js_on_event("tap", CustomJS(code="kfuse.tapSamples()"))
    return plot


def point_diameter(n_samples: int) -> float:
    """Return the diameter of a point in pixels, matching :func:`kfuse.plots.scatter`."""
    return float(max(2.0, 1.4 * point_size(n_samples) ** 0.5))


def tree(shown: Content) -> Any:
    """Build the dendrogram; the script colours it and moves the cut with the number of clusters."""
    top = shown.branches
    highest = max(1.0, float(top.height.max()))
    plot = _figure(
        "tree",
        tools=[],
        toolbar_location=None,
        x_range=Range1d(start=-0.9, end=top.n_leaves - 0.1),
        y_range=Range1d(start=min(0.0, float(top.height.min())) - 0.03 * highest, end=1.08 * highest),
    )
    plot.xaxis.visible = False
    plot.yaxis.axis_label = HEIGHT_LABEL
    ends, nodes = top.segments()
    lines = {name: column.tolist() for name, column in zip(("x0", "y0", "x1", "y1"), ends.T, strict=True)}
    lines |= {"node": nodes.tolist(), "colour": [palette.GREY] * len(nodes)}
    source = ColumnDataSource(lines, name="tree source")
    plot.segment("x0", "y0", "x1", "y1", source=source, line_color="colour", line_width=2, line_cap="square")
    plot.add_layout(
        Span(location=0, dimension="width", line_color=palette.TEXT, line_dash=[5, 4], line_width=1, name="cut")
    )
    here = ColumnDataSource({"x": [], "y": []}, name="here source")
    plot.scatter("x", "y", source=here, size=10, marker="triangle", color=palette.INK)
    plot.js_on_event("tap", CustomJS(code="kfuse.tapTree(cb_obj)"))
    plot.js_on_event("mousemove", CustomJS(code="kfuse.hoverTree(cb_obj)"))
    return plot


def curve(shown: Content) -> Any:
    """Build the fusion curve, with the suggestions marked."""
    levels = shown.stairs
    top = top_of(levels) if shown.has_strengths else 1.08 * levels.max(initial=1)
    plot = _figure(
        "curve",
        tools=[],
        toolbar_location=None,
        x_range=Range1d(start=0.5, end=shown.most_clusters + 0.5),
        y_range=Range1d(start=0, end=float(top)),
    )
    plot.xaxis.axis_label = "number of clusters"
    plot.xaxis.ticker.min_interval = 1
    plot.xaxis.formatter = NumeralTickFormatter(format="0")
    plot.yaxis.axis_label = "merge strength" if shown.has_strengths else HEIGHT_LABEL
    if shown.has_strengths:
        plot.quad(left=0.5, right=shown.most_clusters + 0.5, bottom=USUAL, top=1, color="#F1F1EF", line_color=None)
    numbers = np.arange(1, levels.size + 1)
    plot.step([*numbers, levels.size + 1], [*levels, levels[-1]] if levels.size else [0.0], mode="after",
              line_color=palette.TEXT, line_width=1.5)  # fmt: skip
    marked = shown.suggested[:N_MARKED]
    for number in marked:
        below, above = step_at(levels, number)
        width = 5 if number == marked[0] else 3
        plot.segment(number, below, number, above, line_color=palette.PALETTE[0], line_width=width)
    for number in readable(marked, shown.most_clusters):
        plot.text(
            [number], [step_at(levels, number)[1]], text=[str(number)], x_offset=-7, y_offset=-1, text_align="right",
            text_baseline="middle", text_color=palette.PALETTE[0], text_font={"value": FONT}, text_font_size="13px",
            text_font_style="bold" if number == marked[0] else "normal",
        )  # fmt: skip
    plot.add_layout(
        Span(location=shown.n_clusters, dimension="height", line_color=palette.TEXT, line_dash=[5, 4], name="now")
    )
    plot.js_on_event("tap", CustomJS(code="kfuse.tapCurve(cb_obj)"))
    return plot


def _figure(name: str, **how: Any) -> Any:
    plot = figure(name=name, sizing_mode="stretch_both", min_border=4, **how)
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.outline_line_color = None
    plot.background_fill_color = plot.border_fill_color = None
    plot.grid.grid_line_color = None
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = "#C9C9C9"
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_color = plot.axis.axis_label_text_color = palette.TEXT
    plot.axis.major_label_text_font = plot.axis.axis_label_text_font = FONT
    plot.axis.major_label_text_font_size = "12px"
    plot.axis.axis_label_text_font_size = "12px"
    plot.axis.axis_label_text_font_style = "normal"
    return plot
