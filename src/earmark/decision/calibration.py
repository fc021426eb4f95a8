import numpy as np
from scipy import optimize

from earmark.kernels.logspace import log_normalize


class TemperatureCalibrator:
    def fit(self, s, y):
        f = lambda a: -log_normalize(np.exp(a) * s)[np.arange(len(y)), y].mean()
        self.scale_ = float(
            np.exp(optimize.minimize_scalar(f, bounds=(-5, 8), method="bounded").x)
        )
        return self

    def transform(self, s):
        return log_normalize(self.scale_ * s)
