"""Algorithm 3 and its parts: boundary connectivity, density similarity, the fusion index, and the fusions."""
