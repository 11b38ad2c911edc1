"""A report: what the results of a study say, in tables and figures."""
