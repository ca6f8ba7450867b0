"""What a reader does with a report in a browser, and sees there."""

import io

import numpy as np
from matplotlib.image import imread

from kfuse.drawing.palette import COLOURS


def table_is_filled(page):
    page.wait_for_selector("#table[aria-busy=false]")


def slide_to(page, number):
    """Move the slider as a reader with a keyboard does."""
    slider = page.locator("#number")
    slider.focus()
    now = int(slider.input_value())
    for _ in range(abs(number - now)):
        slider.press("ArrowRight" if number > now else "ArrowLeft")
    page.wait_for_function("number => kfuse.state().asked === number", arg=number)
    table_is_filled(page)


def downloaded(page, tmp_path):
    with page.expect_download() as waiting:
        page.click("#download")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def pixels_of(page):
    """The picture of the samples on the screen, as one number per pixel."""
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")  # the controls stay in sight, and would lie over the picture
    page.wait_for_timeout(100)
    picture = imread(io.BytesIO(page.locator("#samples").screenshot()))[..., :3]
    return np.round(255 * picture).astype(int) @ [65536, 256, 1]


def colours_on_screen(page, palette=COLOURS):
    """The colours of the palette that the samples' picture has on the screen, as many as a reader would notice."""
    pixels = pixels_of(page)
    return [place for place, colour in enumerate(palette) if (pixels == int(colour[1:], 16)).sum() > 20]


def plain(texts):
    return [text.replace("\u00a0", " ") for text in texts]
