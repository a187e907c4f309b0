"""Stack runs: measuring how the saved predictions of several runs fit together."""
