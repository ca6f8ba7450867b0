"""The stages of kFuse: arrays in, named tuples out. Nothing here knows the estimator."""
