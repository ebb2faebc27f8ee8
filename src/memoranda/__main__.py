"""``python -m memoranda`` and the command ``memoranda``."""

from memoranda.surfaces.cli.main import app


def main() -> None:
    app(prog_name="memoranda")


if __name__ == "__main__":
    main()
