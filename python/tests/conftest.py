"""One thread, so that tests may run side by side, and scikit-learn's checks of array API input."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SCIPY_ARRAY_API", "1")
