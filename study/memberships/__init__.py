"""What samples are told, measured: memberships against posteriors, noise against known noise, outlier scores."""
