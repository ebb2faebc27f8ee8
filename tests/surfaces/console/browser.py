"""Debian's chromium, driven by playwright; where it is not installed, that is said and skipped."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
IS_LONG = os.environ.get("MEMORANDA_BROWSER") == "long"
"""`make browser`: every page at two widths and in two schemes, and the screenshots of docs/."""
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: `make browser` installs it, as root"
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, NARROW = (1280, 800), (390, 800)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, size: tuple[int, int] = WIDE, scheme: str = "light", language: str = "en-US"
) -> Iterator[tuple[Page, list[str]]]:
    """A page, and whatever its console complains of."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=language,
        reduced_motion="reduce",
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def refuse(dialog: Dialog) -> None:
        complaints.append("a dialog")
        dialog.dismiss()

    page.on("dialog", refuse)
    yield page, complaints
    context.close()


CONTRAST = """
() => {
  const parse = (text) => {
    const found = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(srgb")
      ? [...found.slice(0, 3).map((part) => part * 255), found[3] ?? 1]
      : [found[0], found[1], found[2], found[3] ?? 1];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => {
      part /= 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color[3] === 1) return color;
    }
    return [255, 255, 255, 1];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    if (element.closest("svg title, script, template, .hidden")) continue;
    const style = getComputedStyle(element);
    const ink = parse(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5))
      found.push(`${ratio.toFixed(2)} ${walker.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return found;
}
"""
"""The texts of a page whose contrast is below that of WCAG AA."""

NAMELESS = """
() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a, svg")]
  .filter((one) => one.checkVisibility() && !one.closest("[aria-hidden=true]"))
  .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length
    || one.getAttribute("aria-labelledby")))
  .map((one) => one.outerHTML.slice(0, 120))
"""
"""What a screen reader could not name."""
