"""`python -m wardround`."""

from wardround.cli import main

if __name__ == "__main__":
    main()
