from sklearn.feature_extraction.text import TfidfTransformer


class TfidfWeighting(TfidfTransformer):
    @classmethod
    def sublinear(cls):
        return cls(sublinear_tf=True)
