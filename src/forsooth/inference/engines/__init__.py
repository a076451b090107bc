"""Passes over reports in files: in this process, or on a Dask cluster."""
