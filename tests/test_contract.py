"""Every public estimator keeps scikit-learn's contract, with no expected failure."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import earmark.models

# Descents that take thousands of steps whatever the data.
PATIENT = {"HigherOrderClassifier", "MultilayerPerceptron"}


def estimators(patient):
    classes = [getattr(earmark.models, name) for name in earmark.models.__all__]
    return [
        cls()
        for cls in classes
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator)
        if (cls.__name__ in PATIENT) == patient
    ]


# Some checks feed two features or one document a class, through which no path leads.
@pytest.mark.filterwarnings("ignore:.*have no (second|third)-order path")
@parametrize_with_checks(estimators(patient=False))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.*have no (second|third)-order path")
@parametrize_with_checks(estimators(patient=True))
def test_scikit_learn_contract_of_patient_models(estimator, check):
    check(estimator)
