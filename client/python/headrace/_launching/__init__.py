"""Services whose servers an engine (Ray, Dask) places: the parts that all engines have in common."""
