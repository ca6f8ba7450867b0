"""How much memory the content of a file will take once it is read, estimated before anything large is made.

One module per format, each with a function that reads the metadata, or makes one pass over the bytes, and returns a
number of bytes. `kfuse.tables.gate` compares it with the memory that there is. Metadata that contradicts itself raises
`DamagedError`, which readers report as they report the errors of polars.
"""
