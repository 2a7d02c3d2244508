"""Services that an engine (Ray, Dask) gives places to: what the engines have in common."""
