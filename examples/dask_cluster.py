"""Fit on a Dask cluster: here two processes of this machine; give the address of a scheduler for yours."""

import joblib
from distributed import Client, LocalCluster

from refpair import CSRPEClassifier
from refpair.datasets import load_dataset


def main() -> None:
    """Fit locally and on the cluster: the models are identical."""
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:1500], digits.Y[:1500], digits.X[1500:], digits.Y[1500:]
    model = CSRPEClassifier("f1", n_bits=100, random_state=0)
    here = model.fit(X, Y).predict(X_test)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,  # Client("tcp://scheduler:8786") for your cluster
        joblib.parallel_config(backend="dask"),
    ):
        there = model.fit(X, Y).predict(X_test)
        print(len(client.scheduler_info()["workers"]), "workers")
    print("same answers:", (here == there).all())
    print(f"F1 {model.cost_.mean(Y_test, there):.2f}")


if __name__ == "__main__":
    main()
