"""What each cluster is: the columns that set it apart, as a ranked table and as sentences."""

from kfuse.description.clusters import Description, columns_of, describe, describe_labels, sentences
from kfuse.description.number import explain_number

__all__ = ["Description", "columns_of", "describe", "describe_labels", "explain_number", "sentences"]
