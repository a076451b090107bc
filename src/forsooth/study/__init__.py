"""Studies: data sets, synthetic crowds, and the evaluation that compares everything."""
