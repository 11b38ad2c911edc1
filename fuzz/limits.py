"""What one input may take."""

SECONDS = 10  # thousands of times what one takes: a slow machine is no finding
MEGABYTES = 2048  # of address space, of which threads and their heaps take some at any time
MEGABYTES_IN_USE = 500  # more than when the first input comes
LONGEST_INPUT = 4096
