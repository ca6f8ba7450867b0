"""What input the estimators accept, and the errors for anything else."""
