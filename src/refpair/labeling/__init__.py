"""Label a table in the browser, the rows that teach the most first."""
