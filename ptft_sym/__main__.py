"""`python -m ptft_sym` is `ptft`."""

from ptft_sym.cli import main

if __name__ == "__main__":
    main()
